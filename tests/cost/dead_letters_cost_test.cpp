// What operators ask for among a million dead letters.
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "conformance/store/storage/sqlite_connection.hpp"
#include "conformance/store/temporary_directory.hpp"
#include "cost/sqlite_steps.hpp"
#include "operations/dead_operations.hpp"
#include "operations/links.hpp"
#include "operations/operations.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"

namespace posthorn::cost {
namespace {

// A page looks at 50,000 rows at most; to look at a million takes ten times as many steps.
constexpr std::int64_t first_page_steps_max = 600'000;
// A row of a list of messages takes some thirty, and a page passes by 20,000 rows or fewer.
constexpr std::int64_t messages_steps_max = 1'000'000;

class dead_letters_cost : public ::testing::Test {
protected:
    void SetUp() override {
        watch_steps();
        open();
        store_->stop();
        store_.reset();
        fill();
        open();
    }
    void TearDown() override {
        if (store_) store_->stop();
    }

    void open() {
        auto opened = sqlite::open(
            {.path = path_, .service = "orders", .check = sqlite::check_at_start::none},
            {.time = time_, .writer = writer_, .log = log_});
        ASSERT_TRUE(opened) << opened.error().what();
        store_ = *std::move(opened);
    }

    /// A million, ten a second, that died of two hundred causes at twenty destinations.
    void fill() const {
        conformance::sqlite_connection plain(path_, nullptr, conformance::durability::none);
        const auto must = [&](std::string_view sql) { ASSERT_EQ(plain.run(sql), std::nullopt); };
        must("BEGIN");
        must(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200)"
            " INSERT INTO outbox_causes (destination, endpoint, cause, first_at, last_at)"
            " SELECT 'service' || (i % 20), 'Charge', 'answered with status <n> of kind ' ||"
            " char(64 + i), 1000, 1000 FROM n");
        must(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000)"
            " INSERT INTO outbox_messages (message_id, destination, endpoint, payload, status,"
            " retry_count, last_error, last_attempt_at, created_at)"
            " SELECT printf('01900000-0000-7000-8000-%012x', i), 'service' || ((1 + i % 200) % 20),"
            " 'Charge', '{\"amount\":' || i || '}', 'Dead', 6, 'answered with status 500 to order '"
            " || i, 2000 + i, 100 * i FROM n");
        must(
            "INSERT OR REPLACE INTO outbox_closed (seq, status, at, cause_id)"
            " SELECT seq, 'Dead', 2000 + seq, 1 + seq % 200 FROM outbox_messages");
        must("COMMIT");
        ASSERT_EQ(plain.rows("SELECT sum(dead) FROM outbox_causes").at(0).at(0), "1000000");
    }

    /// The steps of SQLite's machine that it takes.
    template <class Work>
    std::int64_t steps(std::string_view what, Work work) {
        const auto before = steps_taken();
        auto outcome =
            start(threads_.executor(),
                  work(dead_place{.where = *store_, .readers = readers_, .now = time_.wall()}))
                .get();
        const auto taken = steps_taken() - before;
        EXPECT_TRUE(outcome) << outcome.error().what();
        fmt::print("{}: {} steps\n", what, taken);
        EXPECT_GT(taken, 0) << "nothing was counted";
        return taken;
    }

    conformance::temporary_directory place_;
    std::string path_ = (place_.path() / "orders.db").string();
    real_clock time_;
    logger log_ = logger::null();
    worker_threads writer_{"writer"};
    inline_executor readers_;
    io_threads threads_{"io"};
    std::unique_ptr<store> store_;
};

TEST_F(dead_letters_cost, of_a_million_no_first_page_of_anything_looks_at_all) {
    const auto list = [&](std::string_view what, dead_filter wanted) {
        EXPECT_LT(steps(what, [&](dead_place at) { return list_dead(at, {.wanted = wanted}); }),
                  first_page_steps_max);
    };
    list("list", {});
    list("list of a destination", {.destination = "service7"});
    list("list of a cause", {.cause = 17});
    list("list by the text of errors", {.error = "order 99"});
    list("list of what is not there", {.destination = "nobody"});
    list("list by a correlation id that is not there", {.correlation_id = "none"});
    list("list by a cause that is not there", {.causation_id = "none"});
    list("list since a time", {.since = wall_time{std::chrono::milliseconds{1'000'000}}});
    // Which begins where such messages stand, not at the newest.
    const auto half = wall_time{std::chrono::seconds{50'000}};
    EXPECT_LT(steps("messages until a time",
                    [half](dead_place at) -> task<result<message_list>> {
                        auto page = list_messages(at.where, {.until = half});
                        EXPECT_TRUE(page && !page->rows.empty());
                        if (page && !page->rows.empty()) EXPECT_EQ(page->rows.front().seq, 499'999);
                        co_return page;
                    }),
              messages_steps_max);
    const auto oldest = *uuid::parse("01900000-0000-7000-8000-000000000001");
    EXPECT_LT(steps("what a message led to",
                    [oldest](dead_place at) -> task<result<message_links>> {
                        co_return find_links({&at.where}, oldest);
                    }),
              first_page_steps_max);
    EXPECT_LT(steps("groups", [](dead_place at) { return group_dead(at, {}); }),
              first_page_steps_max);

    const auto change = [&](std::string_view what, dead_filter wanted, dead_change how) {
        EXPECT_LT(steps(what,
                        [&](dead_place at) {
                            return change_many_dead(at, {.wanted = wanted}, {.how = how});
                        }),
                  first_page_steps_max);
    };
    change("requeue, a slice of all", {}, {.what = dead_action::requeue});
    change("requeue, a slice of a cause", {.cause = 17}, {.what = dead_action::requeue});
    change("resolve, a slice", {}, {.what = dead_action::resolve, .resolution = "old"});
    change("delete, a slice", {}, {.what = dead_action::remove});
}

}  // namespace
}  // namespace posthorn::cost
