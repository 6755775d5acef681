#include <filesystem>
#include <ostream>

#include "app/cli/files.hpp"
#include "app/cli/json_output.hpp"
#include "app/cli/keys_command.hpp"
#include "app/cli/options.hpp"
#include "base/clock.hpp"

namespace posthorn::cli {
namespace {

class keys_list_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "FILES", files_, "ring files");
        add_json_flag(options, json_);
        options.footer("Example: posthorn keys list stock.keys billing.keys");
    }

    result<> run(const console& terminal) override {
        if (files_.empty())
            return fail(error_code::invalid_argument, "name the ring files, or give --config FILE");
        std::vector<peer_keys_view> peers;
        for (const auto& file : files_) POSTHORN_TRY(add_file(file, peers));
        const auto now = real_clock().wall();
        if (json_)
            print_json(terminal, to_json(peers, now));
        else
            terminal.out << to_text(peers, now);
        return {};
    }

private:
    static result<> add_file(const std::string& file, std::vector<peer_keys_view>& peers) {
        const auto text = read_file(file);
        if (!text) return std::unexpected(text.error());
        auto ring = ring_file::parse(*text, file);
        if (!ring) return std::unexpected(std::move(ring).error());
        peers.push_back({std::filesystem::path(file).stem().string(), ring->ring()});
        return {};
    }

    std::vector<std::string> files_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_keys_list_command() { return std::make_unique<keys_list_command>(); }

}  // namespace posthorn::cli
