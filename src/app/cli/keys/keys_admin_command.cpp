#include <array>
#include <ostream>

#include <boost/json/object.hpp>

#include "admin/access/access.hpp"
#include "app/cli/keys/keys_command.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

class keys_admin_new_command final : public command {
public:
    void declare(CLI::App& options) override {
        options.add_option("--role", role_, "what its holder may do")
            ->capture_default_str()
            ->check(CLI::IsMember({"viewer", "operator", "worker"}));
        options.add_option("--name", name_, "who holds it, for the audit")
            ->capture_default_str()
            ->type_name("NAME");
        options.add_flag("--payloads", payloads_, "its holder may read payloads");
        options.add_flag("--secrets", secrets_,
                         "its holder may be shown secrets that the node makes");
        add_json_flag(options, json_);
        options.footer("Example: posthorn keys admin new --role operator --name desk-3");
    }

    result<> run(const console& terminal) override {
        if (name_.empty() || name_.find_first_of("\"\\\n\r\t") != std::string::npos)
            return fail(error_code::invalid_argument,
                        "--name must be text without quotes, such as desk-3");
        system_random random;
        const auto [key, hash] = make_admin_key(random);
        const auto made = to_iso8601(real_clock().wall());
        if (json_)
            print_json(terminal, boost::json::object{{"key", key},
                                                     {"name", name_},
                                                     {"role", role_},
                                                     {"payloads", payloads_},
                                                     {"secrets", secrets_},
                                                     {"made", made},
                                                     {"hash", hash}});
        else
            terminal.out << fmt::format(
                "{}\n\nThis is the only time it is shown. The node knows its hash alone; add to "
                "its "
                "configuration:\n\n[[admin.keys]]\nname = \"{}\"\nrole = \"{}\"\nhash = \"{}\"\n"
                "made = \"{}\"\n{}{}",
                key, name_, role_, hash, made, payloads_ ? "payloads = true\n" : "",
                secrets_ ? "secrets = true\n" : "");
        return {};
    }

private:
    std::string role_ = "viewer";
    std::string name_ = "admin";
    bool payloads_ = false;
    bool secrets_ = false;
    bool json_ = false;
};

std::unique_ptr<command> make_keys_admin_new_command() {
    return std::make_unique<keys_admin_new_command>();
}

constexpr std::array members{
    command_entry{"new", "make a key and show it once", make_keys_admin_new_command},
};

}  // namespace

std::unique_ptr<command> make_keys_admin_command() {
    return std::make_unique<command_group>(members);
}

}  // namespace posthorn::cli
