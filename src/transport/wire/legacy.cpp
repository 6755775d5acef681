#include "transport/wire/legacy.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "message/trace.hpp"
#include "message/wire/envelope.hpp"
#include "security/rf_hmac.hpp"
#include "security/x_workflow.hpp"
#include "transport/wire/status.hpp"

namespace posthorn {
namespace {

// An inbox row lives for 48 hours at least.
constexpr std::chrono::hours life_max{47};

std::string workflow_path(std::string_view endpoint) {
    std::string path(workflow_inbox_path);
    for (const char each : endpoint) {
        const bool is_plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                              (each >= '0' && each <= '9') || each == '-' || each == '_' ||
                              each == '.' || each == '~';
        if (is_plain)
            path += each;
        else
            path += fmt::format("%{:02X}", static_cast<unsigned char>(each));
    }
    return path;
}

bool is_success(std::uint16_t status) { return status >= 200 && status < 300; }

// The time of a message is not signed, but one in the future would lengthen its life; and so would
// an id from there.
result<> check_not_ahead(const envelope_claim& claim, wall_time now) {
    const auto at = parse_iso8601(claim.timestamp);
    const auto id = uuid::parse(claim.message_id);
    const auto made = id ? id->time() : std::nullopt;
    if ((at && *at > now + signature_window) || (made && *made > now + signature_window))
        return fail(error_code::bad_signature,
                    "rf-timestamp, or the time in the id, is more than five minutes ahead; set "
                    "both clocks right");
    return {};
}

}  // namespace

result<wire_request> write_legacy(const message& what, const key_ring& keys, wall_time now) {
    const bool is_command = keys.scheme() == signature_scheme::x_workflow;
    wire_request request{
        .path = is_command ? workflow_path(what.endpoint) : std::string(receive_path),
        .traceparent = trace_of(what.headers).parent};
    const auto payload = compact_payload(what);
    std::string hmac;
    if (keys.scheme() == signature_scheme::rf_hmac) {
        POSTHORN_LET(made, sign_rf_hmac(keys,
                                        {.message_id = what.id.to_string(),
                                         .source = what.source,
                                         .endpoint = what.endpoint,
                                         .payload = payload},
                                        now));
        hmac = std::move(made);
    }
    append_envelope(request.body, what,
                    {.payload = payload, .hmac = hmac, .is_command = is_command});
    if (is_command) {
        POSTHORN_LET(made, sign_x_workflow(keys, request.body, now));
        request.workflow_signature = std::move(made);
    }
    return request;
}

delivery read_legacy(const wire_reply& reply, signature_scheme scheme) {
    auto said = read_answer(reply.body);
    if (!said) {
        // A status is enough for those who say no more, but for a success of rf-hmac, which has
        // words for it.
        if (scheme == signature_scheme::rf_hmac && is_success(reply.status))
            return {.what = outcome::transient,
                    .error = fmt::format("{}: {}", said.error().name(), said.error().what())};
        said = wire_answer{};
    }
    said->status = reply.status;
    if (scheme == signature_scheme::x_workflow && is_success(reply.status))
        said->acknowledged = true;
    return from_wire(*std::move(said), reply.retry_after);
}

result<> check_legacy(const wire_request& request, const envelope_claim& claim,
                      const key_ring* keys, wall_time now) {
    if (request.path != receive_path)
        return fail(error_code::bad_signature, "nothing is received at this path unsigned");
    // No sender can choose a weaker scheme for a peer than the one that is its own.
    if (keys == nullptr || keys->scheme() == signature_scheme::v2)
        return fail(error_code::bad_signature, "it is not signed");
    if (keys->scheme() == signature_scheme::x_workflow)
        return verify_x_workflow(*keys, request.workflow_signature, request.body, now);
    POSTHORN_TRY(check_not_ahead(claim, now));
    return verify_rf_hmac(*keys,
                          {.message_id = claim.message_id,
                           .source = claim.source,
                           .endpoint = claim.endpoint,
                           .payload = claim.payload},
                          claim.hmac, now);
}

void limit_life(message& what, signature_scheme scheme) {
    if (scheme != signature_scheme::rf_hmac) return;
    // The id is signed, and one of version 7 says when it was made; nothing else that is signed
    // does.
    const auto from = std::min(what.id.time().value_or(what.created_at), what.created_at);
    // The beginning of time stands for never; no sender may write that into what is not signed.
    constexpr wall_time never{};
    const auto last = from + life_max;
    what.expires_at = what.expires_at == never ? last : std::min(what.expires_at, last);
    if (what.expires_at == never) what.expires_at = never + std::chrono::milliseconds(1);
}

void drop_unsigned(message& what, signature_scheme scheme) {
    if (scheme != signature_scheme::rf_hmac) return;
    what.tenant.clear();
    what.order_key.clear();
    what.parent_id.reset();
    what.causation_id.reset();
    what.headers = carry_trace({}, what.headers, what.headers.size());
}

}  // namespace posthorn
