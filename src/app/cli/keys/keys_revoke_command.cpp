#include <ostream>

#include "app/cli/keys/keys_command.hpp"
#include "app/cli/kit/files.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

class keys_revoke_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "FILE", file_, "the ring file")->required();
        add_place(options, "ID", id_, "the key's id, as 'keys list' shows it")->required();
        add_json_flag(options, json_);
        options.footer("Example: posthorn keys revoke stock.keys c7c27348fbf33a91");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(text, read_file(file_));
        POSTHORN_LET(ring, ring_file::parse(text, file_));
        POSTHORN_TRY(ring.revoke(id_));
        POSTHORN_TRY(replace_file(file_, ring.to_text()));

        const auto now = real_clock().wall();
        const std::vector<peer_keys_view> keys{{file_, ring.ring()}};
        if (json_) {
            print_json(terminal, to_json(keys, now));
            return {};
        }
        terminal.out << to_text(keys, now);
        if (!ring.ring().signer(now))
            terminal.out << fmt::format(
                "no key is left that signs: nothing goes to or from this peer until there is one; "
                "run 'posthorn keys rotate {}'\n",
                file_);
        terminal.out
            << "next: the same on the other service, and let both nodes read it (SIGHUP)\n";
        return {};
    }

private:
    std::string file_;
    std::string id_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_keys_revoke_command() {
    return std::make_unique<keys_revoke_command>();
}

}  // namespace posthorn::cli
