#include <ostream>

#include <boost/json/object.hpp>

#include "app/cli/keys/keys_command.hpp"
#include "app/cli/kit/files.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "base/random.hpp"
#include "security/ed25519.hpp"

namespace posthorn::cli {
namespace {

class keys_publisher_command final : public command {
public:
    void declare(CLI::App& options) override {
        options.add_option("--out", file_, "write the secret half to this new file")
            ->type_name("FILE")
            ->required();
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn keys publisher --out publisher.key\n"
            "Sign with it: posthorn keys sign FILE --key publisher.key");
    }

    result<> run(const console& terminal) override {
        system_random random;
        const auto pair = ed25519_pair::make(random);
        POSTHORN_TRY(write_new_file(file_, pair.reveal(publisher_secret_prefix) + "\n"));
        const auto shown = ed25519_text(pair.public_key(), publisher_key_prefix);
        if (json_)
            print_json(terminal, boost::json::object{{"publicKey", shown}, {"file", file_}});
        else
            terminal.out << fmt::format(
                "wrote the secret half to {}; with it binaries can be signed\n"
                "the public half, for engines that are to take them:\n{}\n",
                file_, shown);
        return {};
    }

private:
    std::string file_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_keys_publisher_command() {
    return std::make_unique<keys_publisher_command>();
}

}  // namespace posthorn::cli
