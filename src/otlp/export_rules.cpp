#include "otlp/export_rules.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "transport/http/wire_headers.hpp"

namespace posthorn {
namespace {

constexpr std::size_t shown_characters_max = 200;

/// Takes fields off the front of a message in protocol buffers; what cannot be read ends it.
class field_reader {
public:
    explicit field_reader(std::string_view bytes) : rest_(bytes) {}

    struct field {
        std::uint64_t number = 0;
        std::uint64_t value = 0;   // Of a varint.
        std::string_view bytes{};  // Of what has a length.
    };
    std::optional<field> next() {
        const auto tag = varint();
        if (!tag) return std::nullopt;
        field found{.number = *tag >> 3U};
        switch (*tag & 7U) {
            case 0: {
                const auto value = varint();
                if (!value) return std::nullopt;
                found.value = *value;
                return found;
            }
            case 2: {
                const auto size = varint();
                if (!size || *size > rest_.size()) return std::nullopt;
                found.bytes = take(*size);
                return found;
            }
            case 1: return skip(8) ? std::optional(found) : std::nullopt;
            case 5: return skip(4) ? std::optional(found) : std::nullopt;
            default: return std::nullopt;
        }
    }

private:
    std::optional<std::uint64_t> varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<std::uint8_t>(rest_.front());
            rest_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) return value;
        }
        return std::nullopt;
    }
    std::string_view take(std::uint64_t size) {
        const auto taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    bool skip(std::size_t size) {
        if (rest_.size() < size) return false;
        rest_.remove_prefix(size);
        return true;
    }

    std::string_view rest_;
};

}  // namespace

partial_success read_partial_success(std::string_view body) {
    partial_success found;
    field_reader response(body);
    while (const auto outer = response.next()) {
        if (outer->number != 1) continue;
        field_reader success(outer->bytes);
        while (const auto inner = success.next()) {
            if (inner->number == 1)
                found.rejected = std::max<std::int64_t>(static_cast<std::int64_t>(inner->value), 0);
            if (inner->number == 2) found.why = clean_utf8(inner->bytes, shown_characters_max);
        }
    }
    return found;
}

export_verdict judge_export(const result<http_response>& answer) {
    using enum export_verdict::kind;
    if (!answer) {
        const auto code = answer.error().code();
        const bool is_passing = code == error_code::unreachable || code == error_code::timed_out ||
                                code == error_code::cancelled;
        return {.what = is_passing ? again : lost, .why = answer.error().what()};
    }
    const auto status = answer->status;
    if (status >= 200 && status < 300) {
        auto partial = read_partial_success(answer->body);
        return {.what = taken, .rejected = partial.rejected, .why = std::move(partial.why)};
    }
    export_verdict seen{.why = fmt::format("the collector answered {}", status)};
    if (status == 413) seen.what = halve;
    if (status == 429 || status == 502 || status == 503 || status == 504) {
        seen.what = again;
        if (const auto text = answer->headers.find("retry-after"))
            seen.pause = parse_retry_after(*text);
    }
    return seen;
}

std::chrono::milliseconds export_pause(std::size_t in_vain, double chance) {
    constexpr std::chrono::milliseconds first{1'000};
    constexpr std::chrono::milliseconds most{30'000};
    const auto doubled = first * (std::int64_t{1} << std::min<std::size_t>(in_vain, 5));
    const auto pause = std::min<std::chrono::milliseconds>(doubled, most);
    // Half of it is left to chance, so that many nodes do not come at once.
    return pause / 2 + std::chrono::milliseconds(static_cast<std::int64_t>(
                           static_cast<double>(pause.count()) / 2 * chance));
}

}  // namespace posthorn
