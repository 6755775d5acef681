#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/error.hpp>
#include <posthorn/message.hpp>

namespace posthorn {

namespace detail {
class settle_rider;
}

/// What an attempt to deliver came to, as the sender must treat it.
enum class outcome : std::uint8_t {
    delivered,      // It took effect, now or before.
    transient,      // Try again later; the attempt counts.
    permanent,      // Trying again cannot help.
    throttled,      // Try again after `retry_after`; the attempt does not count.
    undeliverable,  // No route, or no handler there: wait for a person to mend that.
    unanswered,     // No word of the receiver's that counts; the attempt does not count either.
};

/// The answer to one message of a batch.
struct delivery {
    outcome what = outcome::transient;
    bool duplicate = false;  // The receiver had it already.
    std::string payload{};   // The handler's response, the same to the byte for a duplicate.
    std::string error{};     // Why not, for people.
    std::chrono::milliseconds retry_after{};
    std::optional<error_code> code{};  // Why not, for programs, where the receiver itself refuses.
    std::shared_ptr<detail::settle_rider> rider{};  // Of Posthorn's own transports.

    bool operator==(const delivery&) const = default;
};

/// A batch on its way to a destination whose route has an application's own scheme.
struct outgoing {
    std::string_view destination;
    std::string_view url;  // The route, as it was written.
    std::span<const message* const> messages;
};

/// An application's own way to bring messages somewhere, for `node_options::transports`.
///
/// It is given a batch on one of Posthorn's worker threads, where it may block, and gives one
/// answer for each message, in their order; if it throws, all of them are tried again. It says
/// `delivered` only of what is safe at the receiver, since the message is settled by that, and
/// `unanswered` where the receiver could not be asked. Several batches may be on their way at once.
using transport_function = std::function<std::vector<delivery>(const outgoing& batch)>;

}  // namespace posthorn
