#pragma once

#include <functional>
#include <string>

#include "base/text/http_url.hpp"
#include "transport/http/guarded/guarded_client.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

/// A way over HTTP to a peer whose URL is not an operator's: each request goes through a client for
/// strangers, whose answers are `guarded_limits::verbatim`.
///
/// What the guard refuses fails with `invalid_argument`, and says so; nothing else does.
///
/// Lifetime: what it sends through outlives it.
/// Threads:  the client's.
/// Cancel:   as every channel's; the connection is closed.
class guarded_channel final : public wire_channel {
public:
    using sender = std::function<task<guarded_answer>(guarded_request)>;

    guarded_channel(sender send, const http_url& to)
        : send_(std::move(send)), before_(origin(to) + path_before_ours(to)) {}

    task<result<wire_reply>> exchange(wire_request request) override;

private:
    sender send_;
    std::string before_;  // Of each path of ours.
};

/// What came of a request, as a channel tells it. Pure.
[[nodiscard]] result<wire_reply> take_answer(guarded_answer answer);

}  // namespace posthorn
