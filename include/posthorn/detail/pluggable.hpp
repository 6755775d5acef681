#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <posthorn/detail/time.hpp>

/// The parts of a node that an application may bring itself, in `node_options`. Its own ways to
/// bring messages somewhere are in <posthorn/transport.hpp>.
namespace posthorn {

/// Which halves of a node there are: what takes messages in, what sends them out, or both.
enum class node_parts : std::uint8_t { both, inbox, outbox };

/// min(base * 2^(n-1), max), and on top of it either up to `jitter_max` more or up to
/// `jitter_factor` of it more or less, so that senders that failed together do not return together.
struct exponential_backoff {
    std::chrono::milliseconds base = std::chrono::seconds{2};
    std::chrono::milliseconds max = std::chrono::minutes{5};
    std::chrono::milliseconds jitter_max{500};
    double jitter_factor = 0;  // 0.2 means 20 % either way.
};

/// The same pause each time.
struct fixed_backoff {
    std::chrono::milliseconds delay = std::chrono::seconds{5};
};

/// How long to wait after `attempts` failures, at least one, of which the last said `error`. Empty
/// gives the message up: it is dead. `max_retries` of the message holds beside it.
///
/// Called on the thread that all sending is on, so it neither blocks nor takes long. If it throws,
/// that is logged and the message is tried again after half a minute.
using custom_backoff = std::function<std::optional<std::chrono::milliseconds>(
    std::int32_t attempts, std::string_view error)>;

/// What time of day it is, for tests: when messages were made, when they expire, when rows are old.
/// Pauses are still waited for on the real clock. Called on any thread.
///
/// A clock that the application sets is believed whatever it shows; the machine's is not, while it
/// has jumped.
using wall_clock_function = std::function<wall_time()>;

/// How described messages are written, if not as JSON: `send` and handlers of a type go through it.
/// Payloads that are given as text, and responses, stay as they are.
///
/// It is given JSON, and what it makes goes into the outbox and over the wire with its content
/// type. A handler of a type takes both its content type and JSON, so that services can change over
/// one after the other. What it throws while sending goes to the sender; what it throws about a
/// payload that came makes that message dead at its sender.
///
/// Lifetime: shared with the node.
/// Threads:  any, several at once.
class serializer {
public:
    serializer() = default;
    serializer(const serializer&) = delete;
    serializer& operator=(const serializer&) = delete;
    virtual ~serializer() = default;

    /// Such as `application/cbor`; not JSON's.
    [[nodiscard]] virtual std::string_view content_type() const = 0;
    [[nodiscard]] virtual std::string from_json(std::string_view json) const = 0;
    [[nodiscard]] virtual std::string to_json(std::string_view payload) const = 0;
};

}  // namespace posthorn
