#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <posthorn/node.hpp>

#include "base/time/clock.hpp"
#include "chaos/dice.hpp"
#include "chaos/tally.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::chaos {

/// What nobody but the peer may ever see.
struct canaries {
    std::string payload;
    std::string secret;  // In base64, as it is configured,
    std::string bytes;   // and as it is.

    [[nodiscard]] bool is_in(std::string_view text) const;
};

struct party_options {
    std::string service;
    std::string peer;
    std::uint64_t seed = 1;
    const test::temporary_directory& folder;
    const canaries& secrets;
    tally& counts;
};

/// Answers are numbered after the messages that they answer, from here on.
inline constexpr std::int64_t answers_from = 1'000'000;

/// One of two services that send each other links of chains, and answer each with one of their own.
///
/// All that counts is in its database: what it sent in the transaction that sent it, what it got in
/// the transaction of the handler. Nothing there forbids to get something twice, so that it shows.
///
/// Lifetime: `options` first, for the road to change; `start` once; destroyed, it stops.
/// Threads:  one at a time; handlers run on the node's.
class party {
public:
    explicit party(party_options with);

    /// With these lines more in its configuration.
    [[nodiscard]] configuration options(const std::string& more);
    void start(configuration changed);
    void stop();

    /// Sends so many messages, in transactions of some, and takes a few back that nobody may see.
    void send(std::int64_t messages);
    /// Sends those again that were given up. How many are delivered, and how many are not.
    struct standing {
        std::int64_t sent = 0;
        std::int64_t left = 0;
    };
    standing drain();

    [[nodiscard]] node& at() { return *node_; }
    [[nodiscard]] const std::string& service() const noexcept { return with_.service; }
    [[nodiscard]] std::string file() const { return with_.folder.file(with_.service + ".db"); }
    /// What was wrong the moment that it happened.
    [[nodiscard]] std::vector<std::string> complaints() const;
    /// All that the node tells to people who are not to see payloads.
    [[nodiscard]] std::string metrics() const;

private:
    struct link;

    void complain(std::string what);
    void hear(std::string_view line);
    void send_one(transaction& tx, std::int64_t number);
    std::string take(context& c, const message& received);
    std::string take_answer(context& c, const message& received);
    void extend_chain(context& c, const link& next);
    void stumble(std::int64_t number);

    party_options with_;
    real_clock clock_;
    dice chance_;
    std::atomic<std::uint64_t> runs_ = 0;
    std::int64_t numbers_ = 0;
    std::int64_t keys_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::string> complaints_;
    std::set<std::int64_t> stumbled_;
    std::unique_ptr<node> node_;
};

}  // namespace posthorn::chaos
