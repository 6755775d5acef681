#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "base/async/executor.hpp"
#include "base/async/timer.hpp"
#include "base/failure_board.hpp"
#include "base/histogram.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "base/time/clock_watch.hpp"
#include "inbox/calls_at_work.hpp"
#include "inbox/endpoint_counts.hpp"
#include "inbox/failed_messages.hpp"
#include "inbox/handlers.hpp"
#include "inbox/intake.hpp"
#include "inbox/purge.hpp"
#include "store/message_maker.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

namespace posthorn {

struct inbox_options {
    intake_options intake{};
    inbox_purge_options purge{};
    clock_watch_options clock{};
};

/// What an inbox is built from; all of it outlives the inbox.
struct inbox_deps {
    const environment& env;
    store& database;
    const handlers& registry;    // Frozen.
    const message_maker& maker;  // For what handlers send.
    uuid_generator& ids;         // For the owners of claims.
};

/// What happened since the start.
struct inbox_counts {
    std::uint64_t processed = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t failed = 0;     // The handler failed, or the store.
    std::uint64_t conflicts = 0;  // An id came again with another body.
    std::uint64_t refused = 0;    // No handler, or past the horizon.

    bool operator==(const inbox_counts&) const = default;
};

/// Takes messages in, each with one effect however often it comes.
///
/// The messages of a batch share a commit; one that fails is rolled back alone. An external handler
/// runs between two commits: one takes a claim, the other records the response.
///
/// Lifetime: construct, `run()` once beside any number of `receive`, destroy after all returned;
///           the store is stopped later, so that every unit is answered.
/// Threads:  `receive` from any; asynchronous handlers run on the executor of its caller.
/// Cancel:   `receive` finishes what it began, unless `cut_off` ends it; `run` returns.
class inbox final : public receiver {
public:
    explicit inbox(inbox_deps with, inbox_options options = {});

    task<std::vector<delivery>> receive(message_batch batch) override;
    /// Purges old rows until it is cancelled.
    task<> run() { return purge_.run(); }
    /// Cancels the asynchronous handlers, those that come later too: their claims are released and
    /// their senders ask again. A blocking one cannot be cancelled, and is waited for.
    void cut_off() { at_work_.cut_off(); }

    [[nodiscard]] inbox_counts counts() const;
    /// How long messages took from their arrival to the answer, one entry for each that was
    /// processed; in microseconds.
    [[nodiscard]] const histogram& durations_us() const noexcept { return durations_us_; }
    /// The endpoints whose messages are not taken in.
    [[nodiscard]] const failure_board& failures() const noexcept { return failures_; }
    /// The messages that were not taken in.
    [[nodiscard]] const failed_messages& failed() const noexcept { return failed_messages_; }
    [[nodiscard]] const counts_of_endpoints& endpoints() const noexcept { return endpoints_; }

private:
    struct flight;
    using outcome_of_call = std::expected<std::string, delivery>;

    std::shared_ptr<flight> admit(const message_batch& batch);
    void submit(const std::shared_ptr<flight>& batch);
    task<result<>> sync_what_was_recovered();

    task<> run_claimed(arrival& one);
    task<outcome_of_call> call(const arrival& one);
    task<outcome_of_call> call_blocking(const arrival& one);
    task<outcome_of_call> call_async(const arrival& one);
    task<outcome_of_call> call_within_lease(const arrival& one);

    void report(const arrival& one);
    void count(const delivery& answer);
    void note_message(const arrival& one);
    void note_failure(const arrival& one);
    void count_endpoints(const std::vector<arrival>& arrivals, std::uint64_t took_us);

    inbox_deps with_;
    clock_guard guard_;
    intake intake_;
    inbox_purge purge_;
    calls_at_work at_work_;
    std::atomic<bool> synced_ = false;
    std::atomic<std::uint64_t> processed_ = 0;
    std::atomic<std::uint64_t> duplicates_ = 0;
    std::atomic<std::uint64_t> failed_ = 0;
    std::atomic<std::uint64_t> conflicts_ = 0;
    std::atomic<std::uint64_t> refused_ = 0;
    histogram durations_us_{duration_bounds_us};
    failure_board failures_;
    failed_messages failed_messages_;
    counts_of_endpoints endpoints_;
};

}  // namespace posthorn
