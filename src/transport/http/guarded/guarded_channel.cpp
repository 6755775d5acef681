#include "transport/http/guarded/guarded_channel.hpp"

#include <utility>

#include "transport/http/wire_headers.hpp"

namespace posthorn {
namespace {

error_code code_of(guarded_trouble what) {
    using enum guarded_trouble;
    switch (what) {
        case bad_request:
        case refused: return error_code::invalid_argument;
        case late: return error_code::timed_out;
        case overloaded: return error_code::overloaded;
        case cancelled: return error_code::cancelled;
        case none:
        case name:
        case connect:
        case proxy:
        case tls:
        case broken:
        case malformed: break;
    }
    return error_code::unreachable;
}

}  // namespace

result<wire_reply> take_answer(guarded_answer answer) {
    if (answer.trouble != guarded_trouble::none)
        return fail(code_of(answer.trouble), "{}", answer.for_operator);
    // What is missing is signed as well, so the rest says nothing.
    if (answer.body_cut)
        return fail(error_code::unreachable, "the answer is longer than limits.answer allows");
    return read_reply(answer.status, answer.headers, std::move(answer.body));
}

task<result<wire_reply>> guarded_channel::exchange(wire_request request) {
    guarded_request outgoing{.url = before_ + request.path,
                             .headers = write_request_headers(request),
                             .body = std::move(request.body)};
    co_return take_answer(co_await send_(std::move(outgoing)));
}

}  // namespace posthorn
