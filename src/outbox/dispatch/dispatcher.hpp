#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/run/node_service.hpp"
#include "lease/lease_keeper.hpp"
#include "outbox/dispatch/tenure.hpp"

namespace posthorn {

/// Brings what is in the outbox to where it is to go.
///
/// One dispatcher works on a store at a time. Another one stands by, and takes over when the first
/// gives up, dies or falls silent; that charges no attempt, and what the old one still wants to
/// write is refused. Where the store lets several dispatch, each has a seat of its own with an
/// epoch, under which it claims what it sends, and takes the seats of dead ones away. While it
/// works, messages come to it twice over: straight from the commit, and, if they missed that way,
/// from the table.
///
/// Lifetime: construct, `run()` once, destroy after `run()` returned.
/// Threads:  `run()` on a strand or one thread; everything else from any, but
///           `routes_changed` and `try_now`.
/// Cancel:   cancelling `run()`, or `stop()`, takes nothing new, lets batches in flight end for the
///           drain time, records their outcomes, gives the lease back and returns. Twice is safe.
class dispatcher final : public commit_taker, public node_service {
public:
    dispatcher(dispatcher_deps with, outbox_options options, retry_policy retries = {},
               std::function<bool(const std::string& owner)> owner_is_gone = {});
    ~dispatcher() override;
    dispatcher(const dispatcher&) = delete;
    dispatcher& operator=(const dispatcher&) = delete;

    [[nodiscard]] std::string_view name() const noexcept override { return "dispatcher"; }
    task<> run() override;
    void stop() override { stop_.ring(); }

    /// The hot path: from the store, after a commit.
    void committed(std::vector<outbox_row> enqueued) override;
    /// Before it: the message can be made ready meanwhile.
    void committing(const outbox_row& lone) override;
    void released(std::vector<outbox_row> rows) override;
    [[nodiscard]] std::int64_t claims_as() override;
    /// There may be something new in the table.
    void wake() { sweep_.want(); }
    /// Routes were added or taken away, or their limits changed. On the dispatcher's strand.
    void routes_changed() {
        if (current_ != nullptr) current_->routes_changed();
    }
    /// A person asks for a try at once; see `lane::try_now`. On the dispatcher's strand.
    void try_now(std::string_view destination) {
        if (current_ != nullptr) current_->try_now(destination);
        wake();  // It may have no lane yet.
    }
    /// Whether it has the lease, or a seat. On the dispatcher's strand.
    [[nodiscard]] bool is_at_work() const noexcept { return current_ != nullptr; }
    /// Where messages are taken up in rounds alone: one of them. Gives how many it took up, each of
    /// which has ended or is put off by then. On the dispatcher's strand; cancelling it leaves the
    /// round to itself.
    task<result<std::size_t>> round();
    /// Others committed: what is in the table may not be past a sync.
    void foreign_commit() override;
    /// What `store::changed_by_others` says. That answers only once, so a commit watcher asks here;
    /// otherwise a row could be sent before it is past a sync.
    task<bool> changed_by_others() { return guard_.look(); }

    /// Whether the wall clock was seen to jump of late, so that nothing expires for now.
    [[nodiscard]] bool clock_jumped() { return clocks_.jumped(); }
    [[nodiscard]] const outbox_counters& counters() const noexcept { return counters_; }
    /// Why the table cannot be looked through; nothing if it can. From any thread.
    [[nodiscard]] std::optional<sweep_trouble> sweep_trouble_now() const { return sweeps_.now(); }
    /// See `taken_in::odd`.
    [[nodiscard]] std::string odd_arrival() const { return sweeps_.odd(); }

private:
    task<> work();
    task<> hold(std::int64_t epoch);
    void lease_changed();
    [[nodiscard]] bool is_in_rounds() const noexcept { return options_.round_rows.has_value(); }
    /// Whether it is of a tenant whose messages go out from here.
    [[nodiscard]] bool sends(const outbox_row& row) const;

    dispatcher_deps with_;
    outbox_options options_;
    retry_policy retries_;
    std::function<bool(const std::string& owner)> owner_is_gone_;
    outbox_counters counters_;
    bell hot_arrivals_;
    hand_over hot_;
    sync_guard guard_;
    clock_guard clocks_;
    sweep_call sweep_;
    sweep_board sweeps_;
    round_call rounds_;
    lease_keeper keeper_;
    bell stop_;
    bell changed_;  // The lease, or that we are stopping.
    tenure* current_ = nullptr;
    bool stopping_ = false;
};

}  // namespace posthorn
