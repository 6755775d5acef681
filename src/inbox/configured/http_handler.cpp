#include "inbox/configured/http_handler.hpp"

#include <stdexcept>
#include <utility>

#include <posthorn/error.hpp>

#include "message/trace.hpp"

namespace posthorn {
namespace {

/// Free text must not end the header that it stands in.
std::string header_safe(std::string_view text) {
    std::string safe(text);
    for (char& each : safe)
        if (static_cast<unsigned char>(each) < ' ' || each == '\x7f') each = ' ';
    return safe;
}

/// Of a proxy, or of a service that is starting or full: not of what it was asked to do.
bool speaks_for_the_service(unsigned status) {
    return status == 429 || status == 502 || status == 503 || status == 504;
}

bool may_pass(unsigned status) {
    return status < 400 || status >= 500 || status == 401 || status == 408 || status == 425 ||
           status == 429;
}

}  // namespace

web_call call_for(const message& received, const http_handler_options& options) {
    web_call call{
        .url = options.url, .headers = {}, .body = received.payload, .timeout = options.lease};
    const auto id = received.id.to_string();
    call.headers.add("Content-Type", header_safe(received.content_type));
    call.headers.add("Idempotency-Key", id);
    call.headers.add("rf-message-id", id);
    call.headers.add("rf-source", header_safe(received.source));
    call.headers.add("rf-endpoint", header_safe(received.endpoint));
    call.headers.add("rf-message-type", std::string(to_string(received.type)));
    const auto add_if_any = [&](const char* name, std::string_view value) {
        if (!value.empty()) call.headers.add(name, header_safe(value));
    };
    add_if_any("rf-correlation-id", received.correlation_id);
    add_if_any("rf-tenant", received.tenant);
    const auto trace = trace_of(received.headers);
    add_if_any("traceparent", trace.parent);
    add_if_any("tracestate", trace.state);
    return call;
}

// What went wrong travels to the sender and into both sides' logs. So it quotes nothing of the
// body, which often repeats what was posted, and does not say where the web service is.
result<std::string> response_of_call(http_response answer) {
    if (answer.status >= 200 && answer.status < 300) return std::move(answer.body);
    const auto why = fmt::format("the handler answered {} with {} byte{}", answer.status,
                                 answer.body.size(), answer.body.size() == 1 ? "" : "s");
    if (speaks_for_the_service(answer.status))
        return fail(error_code::handler_unreachable, "{}", why);
    if (!may_pass(answer.status)) throw permanent(why);
    throw std::runtime_error(why);
}

namespace {

// All by value, since a reload may drop the handler while it is at work.
task<result<std::string>> call_web_service(http_handler_options options, web_caller caller,
                                           message received) {
    auto answer = co_await caller(call_for(received, options));
    if (answer && options.tell_refusal && (answer->status < 200 || answer->status >= 300))
        options.tell_refusal(received, *answer);
    if (answer) co_return response_of_call(*std::move(answer));
    if (options.tell_failure) options.tell_failure(received, answer.error());
    co_return fail(error_code::handler_unreachable,
                   "the web service that handles {} gives no answer; the receiver's log says why",
                   received.endpoint);
}

}  // namespace

async_handler make_http_handler(http_handler_options options, web_caller caller) {
    return [options = std::move(options), caller = std::move(caller)](message received) {
        return call_web_service(options, caller, std::move(received));
    };
}

}  // namespace posthorn
