#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "base/uuid_generator.hpp"
#include "conformance/store/storage/storage.hpp"
#include "store/store.hpp"

namespace posthorn::conformance {

/// Collects the answers to submitted units.
///
/// Lifetime: outlives the store's writer, since its callbacks refer to it.
/// Threads:  any.
class answers {
public:
    /// A callback for unit number `index`.
    unit::done_type to(std::size_t index);
    /// Waits for `count` answers in all; reports a failure to the test if they do not come.
    void wait_for(std::size_t count);

    /// How often each unit was answered.
    std::vector<int> times();
    /// In the order of arrival.
    std::vector<std::size_t> order();
    /// The last answer to a unit.
    result<> at(std::size_t index);

private:
    struct answer {
        std::size_t index;
        result<> value;
    };
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<answer> arrived_;
};

/// Keeps what the store announces.
class listener final : public commit_taker {
public:
    void committed(std::vector<outbox_row> enqueued) override;
    void released(std::vector<outbox_row> rows) override;
    void foreign_commit() override { ++foreign_; }

    /// The rows of each call.
    std::vector<std::vector<outbox_row>> calls();
    /// All rows of all calls, in order.
    std::vector<outbox_row> rows();
    /// The messages that were released, in order.
    std::vector<uuid> released_ids();
    [[nodiscard]] int foreign() const { return foreign_; }

private:
    std::atomic<int> foreign_ = 0;
    std::mutex mutex_;
    std::vector<std::vector<outbox_row>> calls_;
    std::vector<uuid> released_;
};

/// A fixed time, far enough from any clock's to show who mixes them up.
inline constexpr wall_time noon{std::chrono::milliseconds{1'900'000'000'000}};

using work = unit::work_type;

/// A unit that runs one statement.
work execute(std::string sql);
/// A unit that stores a message.
work enqueue(message body);

/// What every test of a store needs: a storage, a store on it, and short ways to use both.
///
/// The tests see nothing but the interfaces; the parameter says what stands behind them.
class store_fixture : public ::testing::TestWithParam<store_factory> {
protected:
    store_fixture();
    ~store_fixture() override;

    /// How its store is opened.
    [[nodiscard]] virtual store_settings settings() const { return {}; }
    /// The open store.
    posthorn::store& db();
    storage& disk() { return *storage_; }
    /// Stops the store and opens it again on the same storage.
    void reopen();
    /// Stops it only.
    void close();
    /// The error that opening gives; reports a failure if it gives none.
    error open_error();

    /// Runs a unit and waits for its answer.
    result<> run(work what);
    /// Runs them as one submission and waits for all answers.
    std::vector<result<>> run_all(std::vector<work> what);
    /// Runs and expects success.
    void must(work what);
    void must(const std::string& sql) { must(execute(sql)); }

    /// `t(n)`, and `held(id)` with the unique ids 1 and 2.
    void make_tables();
    /// Runs a unit between two good ones, in one submission on `make_tables()`. Gives the answer to
    /// it, and reports a failure unless its neighbours committed and all were answered once.
    result<> between_good_ones(work bad, std::chrono::milliseconds limit = std::chrono::seconds{5});

    template <class T>
    T write(std::function<result<T>(store_transaction&)> what);
    /// As a sweep does, it takes in what others have stored before it looks.
    template <class T>
    T look(std::function<result<T>(store_reader&)> what);

    /// What a foreign connection sees.
    std::int64_t number(std::string_view sql);
    std::string text(std::string_view sql);

    /// A message with every field set that has no sensible default; due at once.
    message sample(const std::string& destination = "billing");
    /// Stores it and gives its seq.
    std::int64_t put(const message& body);
    uuid new_id() { return ids_.next(); }
    /// Makes this test the dispatcher; gives its epoch.
    std::int64_t dispatch();
    result<std::int64_t> settle(std::vector<settlement> outcomes, std::int64_t epoch);
    outbox_page due(const std::string& destination, wall_time now, std::size_t limit = 100);
    outbox_page due(const due_question& asked);
    std::optional<outbox_status> status(const uuid& id);
    /// From now on such a change of messages, INSERT, UPDATE or DELETE, vanishes without an error.
    void swallow(std::string_view change);

private:
    void take_arrivals_in();

    seeded_random random_{7};
    uuid_generator ids_{[] { return noon; }, random_};
    std::unique_ptr<storage> storage_;
    std::unique_ptr<posthorn::store> store_;
};

/// The claims that hold on every storage.
class store : public store_fixture {};
/// The claims of storages that tell a commit of another from one of their own.
class watched_store : public store_fixture {};
/// The claims about disks that fail, for the storages that can make theirs fail.
class store_on_a_failing_disk : public store_fixture {
protected:
    disk_faults& faults() { return *disk().faults(); }
    /// Ends the open store and restores the power.
    void recover(disk_faults::unsynced fate = disk_faults::unsynced::dropped);
};

/// The name of a lease that settles are checked against.
inline constexpr std::string_view dispatcher_lease = "dispatcher";

template <class T>
T store_fixture::write(std::function<result<T>(store_transaction&)> what) {
    std::optional<T> found;
    const auto outcome = run([&](store_transaction& tx) -> result<> {
        auto value = what(tx);
        if (!value) return std::unexpected(value.error());
        found = *std::move(value);
        return {};
    });
    EXPECT_TRUE(outcome) << outcome.error().what();
    return found ? *std::move(found) : T{};
}

template <class T>
T store_fixture::look(std::function<result<T>(store_reader&)> what) {
    take_arrivals_in();
    std::optional<T> found;
    const auto outcome = db().read([&](store_reader& reader) -> result<> {
        auto value = what(reader);
        if (!value) return std::unexpected(value.error());
        found = *std::move(value);
        return {};
    });
    EXPECT_TRUE(outcome) << outcome.error().what();
    return found ? *std::move(found) : T{};
}

/// `EXPECT_TRUE(refused_with(outcome, error_code::closed))` shows what came instead.
template <class T>
::testing::AssertionResult refused_with(const result<T>& outcome, error_code code) {
    if (outcome) return ::testing::AssertionFailure() << "it succeeded";
    if (outcome.error().code() == code) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << outcome.error().name() << ": " << outcome.error().what();
}

template <class T>
::testing::AssertionResult succeeded(const result<T>& outcome) {
    if (outcome) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << outcome.error().name() << ": " << outcome.error().what();
}

}  // namespace posthorn::conformance
