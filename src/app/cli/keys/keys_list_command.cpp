#include <filesystem>
#include <ostream>

#include "app/cli/keys/keys_command.hpp"
#include "app/cli/kit/files.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/config/secrets.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

class keys_list_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "FILES", files_, "ring files");
        options.add_option("-c,--config", config_file_, "show the keys of this configuration")
            ->type_name("FILE");
        add_json_flag(options, json_);
        options.footer(
            "Examples:\n  posthorn keys list --config orders.toml\n  posthorn keys list "
            "stock.keys");
    }

    result<> run(const console& terminal) override {
        if (files_.empty() == config_file_.empty())
            return fail(error_code::invalid_argument,
                        "name ring files, or give --config FILE for all that it names");
        std::vector<peer_keys_view> peers;
        if (!config_file_.empty()) POSTHORN_TRY(add_config(peers));
        for (const auto& file : files_) POSTHORN_TRY(add_file(file, peers));
        const auto now = real_clock().wall();
        if (json_)
            print_json(terminal, to_json(peers, now));
        else
            terminal.out << to_text(peers, now);
        return {};
    }

private:
    result<> add_config(std::vector<peer_keys_view>& peers) const {
        POSTHORN_LET(settings, load_config(config_file_));
        POSTHORN_LET(rings, load_secrets(settings));
        for (const auto& [peer, ring] : rings) peers.push_back({peer, *ring});
        return {};
    }

    static result<> add_file(const std::string& file, std::vector<peer_keys_view>& peers) {
        POSTHORN_LET(text, read_file(file));
        POSTHORN_LET(ring, ring_file::parse(text, file));
        peers.push_back({std::filesystem::path(file).stem().string(), ring.ring()});
        return {};
    }

    std::vector<std::string> files_;
    std::string config_file_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_keys_list_command() { return std::make_unique<keys_list_command>(); }

}  // namespace posthorn::cli
