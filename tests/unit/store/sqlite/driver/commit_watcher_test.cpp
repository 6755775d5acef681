#include "store/sqlite/driver/commit_watcher.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/time/clock.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "support/process.hpp"
#include "unit/store/sqlite/files.hpp"

namespace posthorn::sqlite {
namespace {

using namespace std::chrono_literals;

/// A watcher on a thread of its own, and when it last noticed something.
class watching {
public:
    explicit watching(const std::string& path)
        : database_(*connection::open({.path = path})),
          version_(database_, "PRAGMA data_version"),
          watcher_(
              path, timer_, log_, [this]() -> task<bool> { co_return changed(); },
              [this] { note(); }),
          services_(threads_.executor()) {
        changed();
        start(threads_.executor(), begin()).get();
    }
    ~watching() { start(threads_.executor(), end()).get(); }
    watching(const watching&) = delete;
    watching& operator=(const watching&) = delete;

    int notices() {
        const std::scoped_lock lock(mutex_);
        return notices_;
    }
    /// When it noticed for the time after `before`; the epoch if it did not within the limit.
    steady_time noticed_after(int before, std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex_);
        noticed_.wait_for(lock, limit, [&] { return notices_ > before; });
        return notices_ > before ? last_ : steady_time{};
    }

private:
    bool changed() {
        const auto version = version_.run();
        EXPECT_TRUE(version);
        const auto now = version->front().integer(0);
        return std::exchange(seen_, now) != now;
    }
    void note() {
        {
            const std::scoped_lock lock(mutex_);
            last_ = clock_.steady();
            ++notices_;
        }
        noticed_.notify_all();
    }
    task<> begin() {
        services_.spawn(watcher_.run());
        co_return;
    }
    task<> end() {
        services_.cancel();
        co_await services_.join();
    }

    real_clock clock_;
    real_timer timer_;
    logger log_ = logger::null();
    connection database_;
    statement version_;
    std::int64_t seen_ = -1;
    std::mutex mutex_;
    std::condition_variable noticed_;
    steady_time last_{};
    int notices_ = 0;
    commit_watcher watcher_;
    io_threads threads_{"watching"};
    task_group services_;
};

class a_commit_watcher : public on_a_file {
protected:
    a_commit_watcher() {
        EXPECT_EQ(db_.run("CREATE TABLE outbox_messages(destination, endpoint, payload)"),
                  SQLITE_OK);
    }
    plain_handle db_{path_};
};

/// Has another process commit, one at a time, and waits until each is noticed.
struct round {
    int commits = 0;
    std::chrono::milliseconds pause{};  // Before each.
};

void expect_all_noticed(const std::string& path, round what) {
    constexpr auto patience = 10s;  // A commit that was missed is never noticed.
    watching watch(path);
    test::process other({POSTHORN_SQLITE_CHILD, "commit-on-signal", path});
    ASSERT_EQ(other.read_line(), "ready");
    std::vector<double> took_us;
    for (int i = 0; i < what.commits; ++i) {
        const auto before = watch.notices();
        EXPECT_EQ(watch.noticed_after(before, what.pause), steady_time{});  // It is quiet.
        other.send_signal(SIGUSR1);
        const auto line = other.read_line();
        ASSERT_TRUE(line) << other.err();
        const auto noticed = watch.noticed_after(before, patience);
        ASSERT_NE(noticed, steady_time{}) << "commit " << i << " was not noticed";
        const steady_time committed{std::chrono::nanoseconds{std::stoll(*line)}};
        took_us.push_back(std::chrono::duration<double, std::micro>(noticed - committed).count());
    }
    std::ranges::sort(took_us);
    fmt::print("commits {} ms apart are noticed after: median {:.0f} us, longest {:.0f} us\n",
               what.pause.count(), took_us[took_us.size() / 2], took_us.back());
    // Not the longest: on a busy machine that tells of the machine.
    EXPECT_LT(took_us[took_us.size() / 2], std::chrono::microseconds(100ms).count());
}

TEST_F(a_commit_watcher, notices_every_commit_of_another_process_in_a_row) {
    expect_all_noticed(path_, {.commits = 100});
}

// By then it has stopped looking, and the announcement comes before there is anything to see.
TEST_F(a_commit_watcher, notices_every_commit_of_another_process_after_a_quiet_time) {
    expect_all_noticed(path_, {.commits = 10, .pause = 120ms});
}

TEST_F(a_commit_watcher, notices_a_commit_of_this_process_too) {
    watching watch(path_);
    ASSERT_EQ(db_.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
    EXPECT_NE(watch.noticed_after(0, 5s), steady_time{});
}

TEST_F(a_commit_watcher, says_nothing_of_what_was_rolled_back) {
    watching watch(path_);
    // So much that SQLite writes to the log before it is told whether to commit.
    ASSERT_EQ(db_.run("PRAGMA cache_size = 5; BEGIN"), SQLITE_OK);
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(db_.run("INSERT INTO t VALUES (zeroblob(4000))"), SQLITE_OK);
    ASSERT_EQ(db_.run("ROLLBACK"), SQLITE_OK);
    EXPECT_EQ(watch.noticed_after(0, 50ms), steady_time{});
    ASSERT_EQ(db_.run("INSERT INTO t VALUES (1)"), SQLITE_OK);
    EXPECT_NE(watch.noticed_after(0, 5s), steady_time{});
}

// Told to end at any moment: while it looks, sleeps or hears of the next write.
TEST_F(a_commit_watcher, ends_though_others_go_on_writing) {
    std::jthread writer([this](const std::stop_token& enough) {
        while (!enough.stop_requested())
            ASSERT_EQ(db_.run("DELETE FROM t; INSERT INTO t VALUES (1)"), SQLITE_OK);
    });
    for (int i = 0; i < 60; ++i) {
        watching watch(path_);
        ASSERT_NE(watch.noticed_after(0, 5s), steady_time{});
    }
}

}  // namespace
}  // namespace posthorn::sqlite
