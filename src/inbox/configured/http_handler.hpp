#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/async/task.hpp"
#include "base/result.hpp"
#include "inbox/handlers.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// One call of a web service.
struct web_call {
    std::string url;
    http_headers headers;
    std::string body;
    std::chrono::milliseconds timeout;
};
using web_caller = std::function<task<result<http_response>>(web_call)>;

struct http_handler_options {
    std::string url;
    std::chrono::milliseconds lease = std::chrono::seconds{60};
    /// Told why there was no answer, with addresses that only this side is to see.
    std::function<void(const message&, const error&)> tell_failure{};
    /// Told of an answer other than 2xx, which only those who may read payloads are to see.
    std::function<void(const message&, const http_response&)> tell_refusal{};
};

/// A handler that posts the payload to a service beside us: at least once, with the message's id as
/// the key by which the service knows a repeat.
///
/// An answer of 2xx is the response. 4xx says that trying again cannot help, unless it is 401, 408,
/// 425 or 429; everything else is tried again.
[[nodiscard]] async_handler make_http_handler(http_handler_options options, web_caller caller);

/// What is posted for a message. Pure.
[[nodiscard]] web_call call_for(const message& received, const http_handler_options& options);
/// The response, or an error to be tried again; throws `permanent`. Neither quotes the answer.
[[nodiscard]] result<std::string> response_of_call(http_response answer);

}  // namespace posthorn
