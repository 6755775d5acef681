#include "transport/wire/status.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

// A peer without a key may ask for patience, as a proxy does, but not hold messages up for long.
constexpr std::chrono::milliseconds stranger_pause_max = std::chrono::minutes{1};
constexpr std::size_t quoted_characters_max = 300;

std::uint16_t status_of_refusal(std::optional<error_code> code) {
    if (!code) return 422;
    switch (*code) {
        case error_code::malformed_request:
        case error_code::invalid_argument:
        case error_code::invalid_payload: return 400;
        case error_code::bad_signature: return 401;
        case error_code::id_reused: return 409;
        case error_code::message_expired: return 410;
        case error_code::message_too_large: return 413;
        default: return 422;
    }
}

std::uint16_t status_of(const delivery& what) {
    switch (what.what) {
        case outcome::delivered: return 200;
        case outcome::permanent: return status_of_refusal(what.code);
        case outcome::undeliverable: return 404;
        case outcome::throttled: return what.code ? 503 : 425;
        case outcome::unanswered: return 504;
        case outcome::transient: break;
    }
    return 500;
}

std::optional<error_code> code_named(std::string_view name) {
    for (const auto& known : error_catalogue())
        if (known.name == name) return known.code;
    return std::nullopt;
}

bool speaks_of_itself(std::uint16_t status) { return status == 429 || status == 503; }

bool may_pass(std::uint16_t status) {
    // Below 400 it is not a refusal; without an acknowledgement it is not a success either.
    return status < 400 || status >= 500 || status == 401 || status == 404 || status == 408 ||
           status == 425 || status == 429;
}

outcome outcome_of(const wire_answer& said, bool has_pause) {
    if (said.acknowledged || said.duplicate) return outcome::delivered;
    if (said.status == 404 && said.code == describe(error_code::no_handler).name)
        return outcome::undeliverable;
    if (!may_pass(said.status)) return outcome::permanent;
    return has_pause && said.status >= 400 && said.status != 404 ? outcome::throttled
                                                                 : outcome::transient;
}

std::chrono::milliseconds heeded(std::chrono::milliseconds pause) {
    return std::clamp<std::chrono::milliseconds>(pause, std::chrono::milliseconds{0},
                                                 retry_after_max);
}

}  // namespace

wire_answer to_wire(delivery what) {
    wire_answer said{.status = status_of(what),
                     .acknowledged = what.what == outcome::delivered,
                     .duplicate = what.duplicate,
                     .payload = std::move(what.payload),
                     .error = std::move(what.error)};
    if (what.code) said.code = describe(*what.code).name;
    if (what.what == outcome::throttled) said.retry_after = what.retry_after;
    return said;
}

wire_answer refuse(const error& why) {
    return {.status = status_of_refusal(why.code()),
            .error = fmt::format("{}: {}", why.name(), why.what()),
            .code = std::string(why.name())};
}

delivery from_wire(wire_answer said, std::optional<std::chrono::milliseconds> header) {
    const auto pause = said.retry_after ? said.retry_after : header;
    delivery what{.what = outcome_of(said, pause.has_value())};
    if (what.what == outcome::delivered) {
        what.duplicate = said.duplicate;
        what.payload = std::move(said.payload);
        return what;
    }
    what.error = said.error.empty()
                     ? fmt::format("answered with status {} and no reason", said.status)
                     : std::move(said.error);
    what.code = code_named(said.code);
    if (what.what == outcome::throttled) {
        what.retry_after = heeded(*pause);
        // A receiver that knows no codes of ours speaks of itself by these, not of the message.
        if (!what.code && speaks_of_itself(said.status)) what.code = error_code::overloaded;
    }
    return what;
}

delivery from_unsigned(const wire_reply& reply, const error& why) {
    delivery what{.what = outcome::unanswered,
                  .error = fmt::format("{}: the answer with status {} does not count: {}",
                                       why.name(), reply.status, why.what()),
                  .code = why.code()};
    // What a stranger may have written is shown, since it most often says what is wrong, but marked
    // as what it is.
    const auto said = read_answer(reply.body);
    if (reply.status >= 400 && said && !said->error.empty())
        what.error +=
            fmt::format("; it says, unsigned: {}", clean_utf8(said->error, quoted_characters_max));
    else if (reply.signature.scheme.empty())
        what.error += "; it comes from a proxy or from another service at this address";
    if (reply.retry_after && speaks_of_itself(reply.status)) {
        what.what = outcome::throttled;
        what.code = error_code::overloaded;
        what.retry_after = std::min(heeded(*reply.retry_after), stranger_pause_max);
    }
    return what;
}

bool lacks_batches(const wire_reply& reply) {
    if (reply.status == 405 || reply.status == 501) return true;
    if (reply.status != 404) return false;
    const auto said = read_answer(reply.body);
    return !said || said->code != describe(error_code::no_handler).name;
}

}  // namespace posthorn
