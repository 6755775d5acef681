#include <gmock/gmock.h>

#include "forward/targets/configured_categories.hpp"
#include "forward/targets/node_target.hpp"
#include "forward/targets/sql_target.hpp"

namespace posthorn {
namespace {

using ::testing::HasSubstr;

TEST(configured_targets, name_a_service_and_an_endpoint_or_are_no_node) {
    const auto one = read_node_target("node:inventory/v1/Restock");
    ASSERT_TRUE(one);
    EXPECT_EQ(one->service, "inventory");
    EXPECT_EQ(one->endpoint, "v1/Restock");
    for (const auto* const none : {"node:", "node:x", "node:/x", "node:x/", "http://x/y"})
        EXPECT_FALSE(read_node_target(none)) << none;
}

std::string refused(const feature_tables::fields& entry) {
    const auto read = read_categories(feature_settings({{"categories", feature_tables{{entry}}}}));
    return read ? std::string() : read.error().what();
}

TEST(configured_targets, that_make_no_sense_are_refused_with_what_to_write) {
    const std::string insert = "sql:INSERT INTO t VALUES (:id)";
    EXPECT_EQ(refused({{"name", "A"}, {"to", insert}, {"database", "sqlite:x"}, {"once", "true"}}),
              "");
    EXPECT_EQ(refused({{"name", "A"}, {"to", "node:x/y"}}), "");
    EXPECT_THAT(refused({{"name", "A"}, {"to", insert}}), HasSubstr("needs the first"));
    EXPECT_THAT(refused({{"name", "A"}, {"to", "node:x/y"}, {"database", "sqlite:x"}}),
                HasSubstr("belong to"));
    EXPECT_THAT(refused({{"name", "A"}, {"to", "http://x"}, {"once", "true"}}),
                HasSubstr("belong to"));
    EXPECT_THAT(refused({{"name", "A"}, {"to", "node:x"}}), HasSubstr("node:service/endpoint"));
    EXPECT_THAT(refused({{"name", "A"}, {"to", "sql:SELECT :order"}, {"database", "sqlite:x"}}),
                HasSubstr("no value for :order; there are :id"));
    EXPECT_THAT(refused({{"name", "A"}, {"to", "sql:"}, {"database", "sqlite:x"}}),
                HasSubstr("entry 1"));
}

TEST(configured_targets, charge_what_a_database_refuses_and_not_that_it_is_out) {
    EXPECT_EQ(judge_outside({}, "historian").what, outcome::delivered);
    for (const auto code : {error_code::store_unavailable, error_code::store_busy})
        EXPECT_EQ(judge_outside(fail(code, "no"), "historian").what, outcome::unanswered);
    const auto seen = judge_outside(fail(error_code::statement_failed, "no"), "historian");
    EXPECT_EQ(seen.what, outcome::transient);
    EXPECT_EQ(seen.error, "the database for historian says: no");
}

}  // namespace
}  // namespace posthorn
