#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/two_processes.hpp"

namespace posthorn::bench {

/// A connection that publishes.
///
/// Threads: one.
class publisher {
public:
    virtual ~publisher() = default;
    /// Sends them all before it waits, and returns when the server has confirmed each.
    virtual void publish(std::span<const std::string> bodies) = 0;
};

/// A connection that consumes.
///
/// Threads: one.
class consumer {
public:
    virtual ~consumer() = default;
    /// What has come, at most `batch_max`; nothing after a tenth of a second without any. The
    /// bodies are valid until the next call.
    virtual std::span<const std::string_view> receive() = 0;
    /// All that the last call gave.
    virtual void acknowledge() = 0;

    static constexpr std::size_t batch_max = 512;
};

/// A server of somebody else's, as its own C client reaches it.
///
/// Lifetime: started in the process that sends, before the other is forked; each process makes its
///           own connections.
class peer {
public:
    virtual ~peer() = default;
    [[nodiscard]] virtual std::unique_ptr<publisher> publish() = 0;
    [[nodiscard]] virtual std::unique_ptr<consumer> consume() = 0;
    /// Before each load, in the process that sends: leaves nothing of the last one.
    virtual void begin(const arguments& given) = 0;
    /// So far; -1 where nobody can count them.
    [[nodiscard]] virtual std::int64_t syncs() const = 0;
};

/// What differs from one to the next.
struct peer_program {
    measure::subject what;
    std::function<std::shared_ptr<peer>(const std::filesystem::path&, const arguments&)> start;
    /// Whether the client leaves threads behind, which do not survive the next load's fork: then
    /// each load has a process of its own.
    bool leaves_threads = false;
    /// For a server that holds the business rows itself: the two halves of the guarantee there, in
    /// place of those of `limit/`.
    std::function<std::unique_ptr<measure::sender>(const std::filesystem::path&, measure::board&,
                                                   pid_t, peer&)>
        own_sender{};
    std::function<void(peer&, measure::board&)> own_receiver{};
};

/// Measures it bare, or with what a user builds around it for the guarantee: an outbox, a relay,
/// and a consumer that commits effect and dedupe row before it acknowledges. One load after the
/// other; throws at the end if some failed, and says why on the way.
void measure_peer(const arguments& given, const peer_program& program);

/// The whole of a program's `main`.
[[nodiscard]] int peer_main(int count, char** words, peer_program (*make)(const arguments& given));

}  // namespace posthorn::bench
