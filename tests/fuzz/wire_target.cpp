#include "fuzz/wire_target.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/promise.hpp"
#include "message/json_check.hpp"
#include "message/wire/answer.hpp"
#include "message/wire/claim.hpp"
#include "message/wire/command.hpp"
#include "message/wire/envelope.hpp"
#include "security/signature.hpp"

namespace posthorn {
namespace {

using fuzz::text_of;

const wall_time now = *parse_iso8601("2026-02-14T12:00:00Z");

void require(bool holds) {
    if (!holds) std::abort();
}

void require_promised(const error& why) {
    require(why.code() == error_code::malformed_request ||
            why.code() == error_code::invalid_argument ||
            why.code() == error_code::message_too_large);
}

const envelope_rules rules{.destination = "stock", .now = now, .messages_max = 20};

std::string written(const message& what) {
    std::string text;
    append_envelope(text, what);
    return text;
}

void require_comes_back(const message& taken) {
    const auto first = written(taken);
    const auto again = read_envelope(first, rules);
    require(again.has_value());
    require(again->payload == taken.payload && again->headers == taken.headers &&
            again->content_type == taken.content_type && again->endpoint == taken.endpoint);
    require(first == written(*again));
}

/// For the older signatures the claim decides whose key counts, and the envelope what is done: they
/// must be of one mind, or a peer could speak in another's name.
void require_same_claim(std::string_view text, const result<message>& taken) {
    const auto claim = read_claim(text);
    if (!claim) return require(claim.error().code() == error_code::malformed_request);
    if (!taken) return;
    require(claim->source == taken->source && claim->endpoint == taken->endpoint &&
            uuid::parse(claim->message_id) == taken->id);
}

void require_command(std::string_view text, const result<message>& taken) {
    const auto command = read_command(text, {.source = "engine", .endpoint = "E"}, rules);
    if (!command) return require_promised(command.error());
    require(command->endpoint == "E");
    require(command->source == "engine" || (taken && taken->source == command->source));
}

}  // namespace

void fuzz_envelope(const std::uint8_t* data, std::size_t size) {
    const auto text = text_of(data, size);
    const auto one = read_envelope(text, rules);
    if (one)
        require_comes_back(*one);
    else
        require_promised(one.error());
    require_same_claim(text, one);
    require_command(text, one);
}

void fuzz_batch(const std::uint8_t* data, std::size_t size) {
    const auto text = text_of(data, size);
    if (const auto many = read_batch(text, rules)) {
        require(many->size() <= rules.messages_max);
        for (const auto& one : *many)
            one ? require_comes_back(*one) : require_promised(one.error());
    } else {
        require_promised(many.error());
    }
    std::vector<result<message>> alone;
    std::string made;
    for (auto rest = text; !rest.empty() && alone.size() < rules.messages_max;) {
        const auto line = fuzz::take_until(rest, '\n');
        if (!check_json(line, json_kind::any, {.inside = 2})) continue;
        alone.push_back(read_envelope(line, rules));
        made.append(made.empty() ? "" : ",").append(line);
    }
    const auto together = read_batch(R"({"messages":[)" + made + "]}", rules);
    require(together && together->size() == alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
        const auto& one = (*together)[i];
        require(one.has_value() == alone[i].has_value());
        require(one ? written(*one) == written(*alone[i])
                    : one.error().code() == alone[i].error().code());
    }
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
