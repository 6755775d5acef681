#include <filesystem>
#include <ostream>

#include <boost/json/object.hpp>

#include "app/cli/keys/keys_command.hpp"
#include "app/cli/kit/files.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

class keys_new_command final : public command {
public:
    void declare(CLI::App& options) override {
        options.add_option("--out", file_, "write it to this new file, for its owner's eyes only")
            ->type_name("FILE");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn keys new --out stock.keys\n"
            "Give both services the same file, and name it as file:stock.keys under [secrets].");
    }

    result<> run(const console& terminal) override {
        system_random random;
        const auto key = make_key(make_secret(random));
        if (!file_.empty()) return write(key, terminal);
        if (json_)
            print_json(terminal,
                       boost::json::object{{"id", key.id}, {"key", to_base64_text(key.value)}});
        else  // Two lines that a ring file takes as they are.
            terminal.out << fmt::format("# id {}\n{}\n", key.id, to_base64_text(key.value));
        return {};
    }

private:
    result<> write(const signing_key& key, const console& terminal) {
        POSTHORN_TRY(
            write_new_file(file_, fmt::format("{}  # {}, made {}\n", to_base64_text(key.value),
                                              key.id, to_iso8601(real_clock().wall()))));
        if (json_)
            print_json(terminal, boost::json::object{{"id", key.id}, {"file", file_}});
        else
            terminal.out << fmt::format(
                "wrote key {} to {}\n"
                "next: copy the file to the other service, and on each side name the other one:\n"
                "  [secrets]\n  PEER = \"file:{}\"\n"
                "where a path begins at the folder of the configuration file\n",
                key.id, file_, std::filesystem::path(file_).filename().string());
        return {};
    }

    std::string file_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_keys_new_command() { return std::make_unique<keys_new_command>(); }

}  // namespace posthorn::cli
