#include "fuzz/wire_target.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "message/wire/answer.hpp"
#include "message/wire/envelope.hpp"
#include "security/signature.hpp"

namespace posthorn {
namespace {

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

const wall_time now = *parse_iso8601("2026-02-14T12:00:00Z");

void require(bool holds) {
    if (!holds) std::abort();
}

void require_promised(const error& why) {
    require(why.code() == error_code::malformed_request ||
            why.code() == error_code::invalid_argument ||
            why.code() == error_code::message_too_large);
}

void require_comes_back(const message& taken, const envelope_rules& rules) {
    std::string first;
    append_envelope(first, taken);
    const auto again = read_envelope(first, rules);
    require(again.has_value());
    require(again->payload == taken.payload && again->headers == taken.headers &&
            again->content_type == taken.content_type && again->endpoint == taken.endpoint);
    std::string second;
    append_envelope(second, *again);
    require(first == second);
}

}  // namespace

void fuzz_envelope(const std::uint8_t* data, std::size_t size) {
    const auto text = text_of(data, size);
    const envelope_rules rules{.destination = "stock", .now = now, .messages_max = 20};
    if (const auto one = read_envelope(text, rules))
        require_comes_back(*one, rules);
    else
        require_promised(one.error());
    const auto many = read_batch(text, rules);
    if (!many) return require_promised(many.error());
    for (const auto& one : *many)
        if (one)
            require_comes_back(*one, rules);
        else
            require_promised(one.error());
}

void fuzz_answer(const std::uint8_t* data, std::size_t size) {
    const auto text = text_of(data, size);
    if (const auto one = read_answer(text)) {
        std::string written;
        append_answer(written, *one);
        const auto again = read_answer(written);
        require(again && *again == *one);
    } else {
        require_promised(one.error());
    }
    if (const auto many = read_answers(text)) {
        std::string written;
        append_answers(written, *many);
        const auto again = read_answers(written);
        require(again && *again == *many);
    } else {
        require_promised(many.error());
    }
}

void fuzz_signature(const std::uint8_t* data, std::size_t size) {
    static const key_ring keys(
        {make_key(*secret::parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="))});
    const signed_content what{
        .path = "/_rf/receive", .content_type = "application/json", .body = "{}"};
    static const auto genuine =
        *sign(keys, {.source = "orders", .destination = "stock"}, what, now);

    auto rest = text_of(data, size);
    std::array<std::string, 6> lines;
    for (auto& line : lines) {
        const auto end = std::min(rest.find('\n'), rest.size());
        line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const signature_headers claimed{lines[0], lines[1], lines[2], lines[3], lines[4], lines[5]};
    const auto checked =
        verify(keys, {.source = claimed.source, .destination = "stock"}, claimed, what, now);
    require(checked.has_value() == (claimed == genuine));
    if (!checked) require(checked.error().code() == error_code::bad_signature);
}

}  // namespace posthorn
