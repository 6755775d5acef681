// Many callers at once. On a storage whose writer runs inline the callers take turns.
#include <mutex>
#include <thread>

#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

constexpr std::size_t callers = 4;
constexpr std::size_t units_each = 100;

TEST_P(store, every_unit_of_every_caller_is_answered_once) {
    must("CREATE TABLE t(caller INTEGER, n INTEGER)");
    answers arrived;
    std::mutex turn;
    const bool one_at_a_time = disk().faults() != nullptr;
    {
        std::vector<std::jthread> threads;
        for (std::size_t caller = 0; caller < callers; ++caller) {
            threads.emplace_back([&, caller] {
                for (std::size_t n = 0; n < units_each; ++n) {
                    std::unique_lock guard(turn, std::defer_lock);
                    if (one_at_a_time) guard.lock();
                    db().submit(
                        {.work = execute(fmt::format("INSERT INTO t VALUES ({}, {})", caller, n)),
                         .done = arrived.to(caller * units_each + n)});
                }
            });
        }
    }
    arrived.wait_for(callers * units_each);
    EXPECT_THAT(arrived.times(),
                ::testing::AllOf(::testing::SizeIs(callers * units_each), ::testing::Each(1)));
    EXPECT_EQ(number("SELECT count(*) FROM t"), callers * units_each);
}

TEST_P(store, readers_go_on_while_units_commit) {
    must("CREATE TABLE t(n INTEGER)");
    answers arrived;
    for (std::size_t i = 0; i < 200; ++i) {
        db().submit({.work = execute("INSERT INTO t VALUES (1)"), .done = arrived.to(i)});
        const auto outcome = db().read([](store_reader& reader) {
            return reader.query("SELECT count(*) FROM t", {}, [](const sql_row&) {});
        });
        ASSERT_TRUE(succeeded(outcome));
    }
    arrived.wait_for(200);
}

TEST_P(store, a_reader_sees_one_moment_throughout) {
    must("CREATE TABLE t(n INTEGER)");
    const auto outcome = db().read([&](store_reader& reader) -> result<> {
        std::vector<std::int64_t> seen;
        const auto count = [&] {
            return reader.query("SELECT count(*) FROM t", {},
                                [&](const sql_row& row) { seen.push_back(row.integer(0)); });
        };
        POSTHORN_TRY(count());
        must("INSERT INTO t VALUES (1)");
        POSTHORN_TRY(count());
        EXPECT_THAT(seen, ::testing::ElementsAre(0, 0));
        return {};
    });
    EXPECT_TRUE(succeeded(outcome));
}

}  // namespace
}  // namespace posthorn::conformance
