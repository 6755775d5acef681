// The history of nodes that share a database on PostgreSQL.
#include <gtest/gtest.h>

#include "history/history_table.hpp"
#include "postgres/node.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

class postgres_history : public testing::Test {
protected:
    static void put(a_store& by, std::string node, wall_time at, std::uint64_t done) {
        history_numbers numbers{.done = done, .waiting = 7};
        numbers.took[3] = done;
        const std::vector<history_row> rows{
            {.at = at, .step = 10s, .node = node, .key = {}, .numbers = numbers},
            {.at = at,
             .step = 10s,
             .node = node,
             .key = {history_kind::destination, "crm"},
             .numbers = numbers}};
        EXPECT_TRUE(by.run([&](store_transaction& tx) { return insert_history(tx, rows); }));
    }
    static std::vector<history_row> read(a_store& by, const history_key& of) {
        std::vector<history_row> rows;
        EXPECT_TRUE(by.get().read([&](store_reader& from) -> result<> {
            POSTHORN_LET(found, read_history(from, 10s, noon - 24h, of));
            rows = std::move(found);
            return {};
        }));
        return rows;
    }

    static constexpr wall_time noon{std::chrono::hours{24 * 365 * 56 + 12}};
    test::postgres_place place_;
    a_store first_{place_, "orders", {history_tables()}};
    a_store second_{place_, "orders", {history_tables()}};
};

TEST_F(postgres_history, has_a_row_of_each_node_and_each_reads_both) {
    put(first_, "one", noon, 4);
    put(second_, "two", noon, 5);
    const auto rows = read(first_, {history_kind::destination, "crm"});
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows, read(second_, {history_kind::destination, "crm"}));
    const auto chart = lay_out(rows, {"test", 10s, 1, 10s}, noon);
    EXPECT_DOUBLE_EQ(chart[0]->done, 0.9);
    EXPECT_EQ(chart[0]->waiting, 7);
    EXPECT_EQ(rows.front().numbers.took[3], rows.front().numbers.done);
}

TEST_F(postgres_history, is_deleted_by_the_node_that_wrote_it_or_later_by_another) {
    put(first_, "one", noon - 6h - 1min, 1);
    put(second_, "two", noon - 6h - 1min, 1);
    EXPECT_TRUE(first_.run([](store_transaction& tx) { return trim_history(tx, noon, "one"); }));
    const auto left = read(second_, {});
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left.front().node, "two");
    EXPECT_TRUE(
        first_.run([](store_transaction& tx) { return trim_history(tx, noon + 1h, "one"); }));
    EXPECT_TRUE(read(second_, {}).empty());
}

}  // namespace
}  // namespace posthorn::conformance
