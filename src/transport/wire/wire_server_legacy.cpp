#include "message/wire/claim.hpp"
#include "message/wire/command.hpp"
#include "security/x_workflow.hpp"
#include "transport/http/types.hpp"
#include "transport/wire/legacy.hpp"
#include "transport/wire/status.hpp"
#include "transport/wire/wire_server.hpp"

// Requests that are signed in an older way. Their answers are not signed: such peers could not
// tell.

namespace posthorn {
namespace {

wire_reply reply_with(const wire_answer& what) {
    wire_reply reply{.status = what.status, .retry_after = what.retry_after};
    append_answer(reply.body, what);
    return reply;
}

/// Such a sender takes every 4xx for the end of a message, so what may pass is a 503.
void soften(wire_answer& said) {
    if (said.status == 404 || said.status == 425) said.status = 503;
}

}  // namespace

// Whose key counts is said inside the body alone, so that is read before anything is verified.
task<wire_reply> wire_server::answer_legacy(wire_request request) {
    const auto claim = read_claim(request.body);
    if (!claim) {
        malformed_.fetch_add(1, std::memory_order_relaxed);
        co_return reply_with(refuse(claim.error()));
    }
    request.signature.source = claim->source;  // For the log.
    const auto keys = parts_.keys.find(claim->source);
    const auto now = parts_.time.wall();
    auto checked = check_legacy(request, *claim, keys.get(), now);
    if (checked) checked = check_certified(request, claim->source);
    if (!checked) co_return distrust(request, uuid::parse(claim->message_id), checked.error());
    auto read = read_envelope(request.body, rules());
    if (read && read->source != claim->source)
        co_return distrust(request, read->id,
                           error(error_code::bad_signature, "sourceServiceId is not clear"));
    if (read) {
        limit_life(*read, keys->scheme());
        drop_unsigned(*read, keys->scheme());
    }
    co_return co_await hand_on(std::move(read));
}

// Nothing says whom it is from but the key, which no other peer has.
task<wire_reply> wire_server::answer_workflow(wire_request request) {
    result<> checked = fail(error_code::bad_signature, "no peer here signs with x-workflow");
    for (const auto& [peer, ring] : parts_.keys.of_scheme(signature_scheme::x_workflow)) {
        checked =
            verify_x_workflow(*ring, request.workflow_signature, request.body, parts_.time.wall());
        if (!checked) continue;
        request.signature.source = peer;
        break;
    }
    if (checked) checked = check_certified(request, request.signature.source);
    if (!checked) co_return distrust(request, std::nullopt, checked.error());
    const auto encoded = std::string_view(request.path).substr(workflow_inbox_path.size());
    auto read = read_command(
        request.body,
        {.source = request.signature.source, .endpoint = percent_decode(encoded).value_or("")},
        rules());
    if (read && read->source != request.signature.source)
        co_return distrust(request, read->id,
                           error(error_code::bad_signature,
                                 "sourceServiceId is another service than the one that signed"));
    co_return co_await hand_on(std::move(read));
}

task<wire_reply> wire_server::hand_on(result<message> read) {
    if (!read) {
        malformed_.fetch_add(1, std::memory_order_relaxed);
        co_return reply_with(refuse(read.error()));
    }
    read_messages alone;
    alone.push_back(std::move(read));
    auto said = std::move((co_await take_in(alone)).front());
    soften(said);
    co_return reply_with(said);
}

}  // namespace posthorn
