#include <ostream>

#include "app/cli/keys/keys_command.hpp"
#include "app/cli/kit/files.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

result<std::chrono::milliseconds> duration_of(std::string_view option, std::string_view text) {
    const auto duration = parse_duration(text);
    if (!duration)
        return fail(error_code::invalid_argument,
                    "{} cannot be '{}'; write a duration such as 30m, 1h or 7d", option, text);
    return *duration;
}

class keys_rotate_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "FILE", file_, "the ring file")->required();
        options.add_option("--after", after_, "when the new key begins to sign")
            ->capture_default_str()
            ->type_name("DURATION");
        options.add_option("--overlap", overlap_, "how long the old ones verify from then")
            ->capture_default_str()
            ->type_name("DURATION");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn keys rotate stock.keys --after 1h --overlap 24h\n"
            "Both services must have the new file before the new key begins to sign.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(after, duration_of("--after", after_));
        POSTHORN_LET(overlap, duration_of("--overlap", overlap_));
        POSTHORN_LET(text, read_file(file_));
        POSTHORN_LET(ring, ring_file::parse(text, file_));

        const auto now = real_clock().wall();
        system_random random;
        POSTHORN_TRY(
            ring.rotate(make_secret(random), {.now = now, .after = after, .overlap = overlap}));
        POSTHORN_TRY(replace_file(file_, ring.to_text()));
        print(ring, now, terminal);
        return {};
    }

private:
    void print(const ring_file& ring, wall_time now, const console& terminal) const {
        const std::vector<peer_keys_view> keys{{file_, ring.ring()}};
        if (json_) {
            print_json(terminal, to_json(keys, now));
            return;
        }
        const auto from = *ring.keys().front().signs_from;
        terminal.out << to_text(keys, now)
                     << fmt::format(
                            "next: copy the file to the other service and let both nodes read it "
                            "(SIGHUP) {}\n",
                            from <= now ? "now" : "before " + to_iso8601(from));
    }

    std::string file_;
    std::string after_ = "1h";
    std::string overlap_ = "24h";
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_keys_rotate_command() {
    return std::make_unique<keys_rotate_command>();
}

}  // namespace posthorn::cli
