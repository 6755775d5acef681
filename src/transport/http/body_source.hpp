#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/async/task.hpp"

namespace posthorn {

/// A body that is made while it is sent, such as events of a page that is watched.
///
/// The server asks for a piece, writes it, and asks for the next: it holds one piece at a time, and
/// a peer that does not read gets no more of them.
///
/// Lifetime: shared with the response; the connection keeps it until it has ended.
/// Threads:  the server's executor.
/// Cancel:   `end` lets a `next` that waits give nothing.
class http_body_source {
public:
    virtual ~http_body_source() = default;

    /// Not empty; nothing once it has ended. One at a time.
    virtual task<std::optional<std::string>> next() = 0;
    /// Nothing more is wanted: the server stops, or the peer is gone. Twice is safe.
    virtual void end() = 0;
    /// How long the peer may take to read a piece before it is given up.
    [[nodiscard]] virtual std::chrono::milliseconds patience() const = 0;
    /// It did take longer.
    virtual void gave_up() {}
};

}  // namespace posthorn
