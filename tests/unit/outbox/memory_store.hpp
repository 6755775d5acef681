#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time/clock.hpp"
#include "store/claim_table.hpp"
#include "store/store.hpp"

namespace posthorn::test {

/// One row as a test looks at it.
struct memory_row {
    outbox_row row;
    outbox_status status = outbox_status::pending;
    wall_time next_attempt_at{};
    std::string error;
    std::string bad;  // Why it is no message, if it is none.
    bool synced = true;
};

/// Everything a commit changes.
struct memory_tables {
    std::map<std::int64_t, memory_row> rows;
    std::map<std::string, paused_destination> paused;
    std::optional<lease> holder;
    std::int64_t epoch = 0;
    std::vector<seat> seats;  // Of other dispatchers.
    bool seats_are_locked = false;
    struct purge {
        row_kind kind;
        wall_time before;
    };
    std::vector<purge> purges;          // Of old rows, as they were asked for.
    std::set<std::int64_t> unwritable;  // Outcomes of these are refused.
    int settlings = 0;                  // Units that brought outcomes.
    int slices_left = 0;                // So often there is more to delete.
    int given_back = 0;                 // How often the file was asked to shrink.
    std::vector<std::size_t> looks;     // Rows of each look through the tables beside messages.
    std::size_t looks_to_end = 1;       // So many go once through all; each mends a row.
};

/// A store in memory that a test can watch, delay and break. It knows the outbox and the lease of
/// the dispatcher, no SQL and no inbox. Units run inside `submit`, unless held; several nodes may
/// share the tables of one.
///
/// Threads: one only.
class memory_store final : public store, private shared_dispatch {
public:
    explicit memory_store(class clock& time,
                          std::shared_ptr<memory_tables> shared = std::make_shared<memory_tables>())
        : tables(*shared), shared_(std::move(shared)), time_(time) {}

    void submit(unit work) override {
        queue_.push_back(std::move(work));
        run();
    }
    void submit_and_wait(unit work) override { submit(std::move(work)); }
    void submit(std::vector<unit> work) override {
        for (auto& one : work) queue_.push_back(std::move(one));
        run();
    }
    result<> read(const std::function<result<>(store_reader&)>& look) override;
    void hand_to(commit_taker* taker) override { taker_ = taker; }
    void listen(commit_listener&) override {}
    void forget(commit_listener&) override {}
    result<bool> changed_by_others() override { return std::exchange(foreign_, false); }
    void barrier(unit::done_type done) override {
        ++barriers;
        for (auto& [seq, one] : tables.rows) one.synced = true;
        done({});
    }
    /// As if one dispatched at a time, unless a test says otherwise.
    [[nodiscard]] shared_dispatch* sharing() override { return is_shared ? this : nullptr; }
    [[nodiscard]] file_upkeep* upkeep() override { return nullptr; }
    [[nodiscard]] bool has_failed() const override { return false; }
    [[nodiscard]] std::optional<error> write_trouble() const override { return std::nullopt; }
    [[nodiscard]] std::uint64_t units_done() const override { return 0; }
    [[nodiscard]] std::chrono::nanoseconds longest_wait() const override { return {}; }
    [[nodiscard]] std::chrono::nanoseconds unit_age() const override { return {}; }
    result<> check_integrity() override { return {}; }
    void stop() override {}

    /// A send of this node: committed, and announced.
    std::int64_t send(message body);
    /// A row that another process wrote without a sync.
    std::int64_t write_foreign(message body, std::string bad = {});
    /// The writer notices it before anybody asks.
    void announce_foreign() {
        foreign_ = false;
        taker_->foreign_commit();
    }
    /// Units queue up instead of running.
    void hold(bool held) {
        held_ = held;
        run();
    }

    /// Another process' view of the same tables.
    [[nodiscard]] std::shared_ptr<memory_tables> share() const { return shared_; }

    memory_tables& tables;
    bool is_shared = false;
    int commits = 0;
    int reads = 0;
    int row_reads = 0;  // Of them, for due rows of a destination.
    int walks = 0;      // Of them, over all destinations.
    int barriers = 0;
    std::deque<error> failures;  // Of the commits to come, first to last.

private:
    class reader;
    class transaction;

    claim_table& claims_in(store_transaction& open) override;
    result<bool> has_arrivals(store_reader&) override { return false; }
    void run();
    void commit_group();
    std::int64_t insert(message body, memory_row with);

    std::shared_ptr<memory_tables> shared_;
    class clock& time_;
    std::deque<unit> queue_;
    commit_taker* taker_ = nullptr;
    bool foreign_ = false;
    bool held_ = false;
    bool running_ = false;
};

}  // namespace posthorn::test
