#include "store/rows/message_state.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace posthorn {
namespace {

/// FNV-1a of 64 bits.
class fingerprint {
public:
    void add(std::string_view text) {
        add(static_cast<std::int64_t>(text.size()));  // So that no two lists give the same bytes.
        for (const char c : text) add_byte(static_cast<unsigned char>(c));
    }
    void add(std::int64_t number) {
        auto bits = static_cast<std::uint64_t>(number);
        for (int i = 0; i < 8; ++i, bits >>= 8) add_byte(static_cast<unsigned char>(bits));
    }
    [[nodiscard]] std::string text() const { return fmt::format("{:016x}", value_); }

private:
    void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

    std::uint64_t value_ = 0xcbf29ce484222325;
};

std::int64_t ms(wall_time time) { return time.time_since_epoch().count(); }

}  // namespace

std::string message_state(const message_summary& summary, const message_content& content) {
    fingerprint all;
    all.add(summary.id);
    all.add(to_string(summary.status));
    all.add(summary.attempts);
    all.add(summary.max_retries);
    all.add(ms(summary.next_attempt_at));
    all.add(summary.last_attempt_at ? ms(*summary.last_attempt_at) : 0);
    all.add(ms(summary.expires_at));
    all.add(summary.destination);
    all.add(summary.endpoint);
    all.add(content.payload);
    all.add(content.headers);
    all.add(content.content_type);
    return all.text();
}

}  // namespace posthorn
