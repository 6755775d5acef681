#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "base/async/io_threads.hpp"
#include "base/async/timer.hpp"
#include "transport/transport.hpp"

namespace posthorn::conformance {

inline constexpr std::string_view sender = "orders";
inline constexpr std::string_view destination = "stock";

/// What can happen to an answer before the sender sees it, by somebody who has no key.
enum class forgery : std::uint8_t {
    none,
    unsigned_answer,  // The signature is missing.
    other_key,        // Signed, but by a stranger.
    other_answer,     // That to an earlier request, signature and all.
    other_status,     // A refusal made a success.
    other_body,       // A failure made an acknowledgement.
};

struct road_settings {
    std::chrono::milliseconds patience = std::chrono::seconds(30);  // For an answer.
    bool wrong_secret = false;
};

/// A way from a sender to a receiver, on which things happen.
///
/// A transport without bytes, such as that inside a process, does the like of each fault at the
/// place where it has one: its receiver breaks off, or is gone.
///
/// Lifetime: the receiver outlives it; its transports go before it.
/// Threads:  that of the test.
class road {
public:
    virtual ~road() = default;

    virtual std::unique_ptr<transport> connect(road_settings settings = {}) = 0;

    /// There is nobody to speak to.
    virtual void refuse() = 0;
    /// Requests break off part of the way, and the receiver does not get them.
    virtual void break_requests() = 0;
    /// Requests arrive, and their answers break off at the beginning or part of the way.
    virtual void lose_answers() = 0;
    virtual void truncate_answers() = 0;
    /// Everything arrives in small pieces.
    virtual void dribble() = 0;
    /// What is sent by the transports that have been used so far stays on the way.
    virtual void hold() = 0;
    /// Ends all of these.
    virtual void mend() = 0;
    /// The receiver gets all again that the transport used last has sent.
    virtual void replay() = 0;

    virtual void forge_answers(forgery how) = 0;
    /// Ends the receiver's side as a node does that stops, and starts it.
    virtual task<> stop_peer(std::chrono::milliseconds patience) = 0;
    virtual void start_peer() = 0;
};

/// What a road is built on; outlives it.
struct road_parts {
    io_threads& threads;
    timer& time;
    receiver& to;
};

/// A kind of transport that the suite runs on.
struct road_factory {
    std::string name;
    std::function<std::unique_ptr<road>(const road_parts&)> make;
};

inline void PrintTo(const road_factory& factory, std::ostream* out) { *out << factory.name; }

std::unique_ptr<road> inprocess_road(const road_parts& parts);
std::unique_ptr<road> unix_road(const road_parts& parts);
std::unique_ptr<road> pipe_road(const road_parts& parts);
std::unique_ptr<road> grpc_road(const road_parts& parts);
std::unique_ptr<road> http_road(const road_parts& parts);
std::unique_ptr<road> https_road(const road_parts& parts);

}  // namespace posthorn::conformance
