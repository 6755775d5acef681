// What is known of other nodes, where nodes share a database on PostgreSQL.
#include <gtest/gtest.h>

#include "nodes/nodes_table.hpp"
#include "postgres/node.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

class postgres_nodes : public testing::Test {
protected:
    static void see(a_store& by, std::string colour, wall_time at) {
        const light_seen seen{.node = "stock",
                              .light = {.colour = std::move(colour),
                                        .reasons = {"it's \"so\""},
                                        .answered = true,
                                        .service = "stock",
                                        .version = "1"},
                              .at = at,
                              .latency = 7ms};
        EXPECT_TRUE(by.run([&](store_transaction& tx) { return record_light(tx, seen, 60s); }));
    }
    static std::optional<known_light> known(a_store& by) {
        std::optional<known_light> all;
        EXPECT_TRUE(by.get().read([&](store_reader& from) -> result<> {
            POSTHORN_LET(found, read_known(from, "stock"));
            all = std::move(found);
            return {};
        }));
        return all;
    }
    static std::vector<light_span> spans(a_store& by) {
        std::vector<light_span> all;
        EXPECT_TRUE(by.get().read([&](store_reader& from) -> result<> {
            POSTHORN_LET(found, read_spans(from, "stock", {}));
            all = std::move(found);
            return {};
        }));
        return all;
    }

    static constexpr wall_time noon{std::chrono::hours{24 * 365 * 56 + 12}};
    test::postgres_place place_;
    a_store first_{place_, "orders", {nodes_tables()}};
    a_store second_{place_, "orders", {nodes_tables()}};
};

TEST_F(postgres_nodes, what_one_node_saw_another_shows_and_goes_on_with) {
    EXPECT_FALSE(known(second_));
    see(first_, "yellow", noon);
    see(second_, "yellow", noon + 1min);
    ASSERT_EQ(spans(first_).size(), 1U);
    const auto seen = known(first_);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->since, noon);
    EXPECT_EQ(seen->told, noon + 1min);
    EXPECT_EQ(seen->last.light.reasons, std::vector<std::string>{"it's \"so\""});
    EXPECT_EQ(seen->last.latency, 7ms);
    see(first_, "red", noon + 2min);
    EXPECT_EQ(spans(second_).size(), 2U);
    EXPECT_EQ(known(second_)->since, noon + 2min);
}

TEST_F(postgres_nodes, what_is_older_than_seven_days_is_deleted) {
    see(first_, "red", noon);
    see(second_, "green", noon + lights_kept);
    EXPECT_EQ(spans(first_).size(), 2U);
    see(second_, "green", noon + lights_kept + 1min);
    ASSERT_EQ(spans(first_).size(), 1U);
    EXPECT_EQ(spans(first_).front().light.colour, "green");
}

}  // namespace
}  // namespace posthorn::conformance
