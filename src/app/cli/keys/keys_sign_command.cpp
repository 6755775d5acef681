#include <filesystem>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "app/cli/keys/keys_command.hpp"
#include "app/cli/kit/files.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "workflow/binary/inspection.hpp"

namespace posthorn::cli {
namespace {

std::string_view without_line_end(std::string_view text) {
    const auto last = text.find_last_not_of(" \r\n");
    return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

class keys_sign_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "FILE", file_, "the binary, of posthorn_workflow_binary")->required();
        options.add_option("--key", key_, "the publisher's secret half")
            ->type_name("FILE")
            ->required();
        options
            .add_option("--out", out_, "write the signed binary here; to FILE itself if not given")
            ->type_name("FILE");
        add_json_flag(options, json_);
        options.footer("Example: posthorn keys sign orders.flows --key publisher.key");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(secret_text, read_file(key_));
        POSTHORN_LET(pair,
                     ed25519_pair::parse(without_line_end(secret_text), publisher_secret_prefix));
        POSTHORN_LET(file, read_file(file_, elf_limits().file_bytes_max));
        const auto bytes = std::as_bytes(std::span(file));
        const auto before = read_signed(bytes);
        const auto bare = before ? before->elf : bytes;
        POSTHORN_LET(manifest, checked(bare));
        const auto made = sign_binary(bare, pair);
        const std::string text(reinterpret_cast<const char*>(made.data()), made.size());
        const auto& to = out_.empty() ? file_ : out_;
        std::error_code unusable;
        const bool is_there = std::filesystem::exists(to, unusable);
        POSTHORN_TRY(is_there ? replace_file(to, text) : write_new_file(to, text, {.mode = 0644}));
        print(terminal, manifest, to, ed25519_text(pair.public_key(), publisher_key_prefix));
        return {};
    }

private:
    /// What an engine would refuse is not signed in the first place. Built for another machine, it may
    /// be sound there.
    result<binary_manifest> checked(std::span<const std::byte> elf) const {
        const auto image = read_elf(elf);
        auto seen = inspect_elf(elf, image ? image->machine : machine_here());
        if (!seen)
            return fail(error_code::invalid_argument, "{} cannot be deployed ({}): {}", file_,
                        to_string(seen.error().flaw), seen.error().why);
        return *std::move(seen);
    }

    void print(const console& terminal, const binary_manifest& manifest, const std::string& to,
               const std::string& key) const {
        if (!json_) {
            terminal.out << fmt::format("signed {} {}, as {}: {}\n", manifest.head.name,
                                        manifest.head.version, key, to);
            for (const auto& each : manifest.workflows)
                terminal.out << fmt::format("  workflow {} version {}\n", each.name, each.version);
            for (const auto& each : manifest.services)
                terminal.out << fmt::format("  calls {}\n", each.interface);
            return;
        }
        boost::json::array workflows;
        for (const auto& each : manifest.workflows)
            workflows.push_back(
                boost::json::object{{"name", each.name}, {"version", each.version}});
        boost::json::array services;
        for (const auto& each : manifest.services) services.emplace_back(each.interface);
        print_json(terminal, boost::json::object{{"name", manifest.head.name},
                                                 {"version", manifest.head.version},
                                                 {"publicKey", key},
                                                 {"file", to},
                                                 {"workflows", std::move(workflows)},
                                                 {"calls", std::move(services)}});
    }

    std::string file_;
    std::string key_;
    std::string out_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_keys_sign_command() { return std::make_unique<keys_sign_command>(); }

}  // namespace posthorn::cli
