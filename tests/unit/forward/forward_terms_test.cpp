#include "forward/forward_terms.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(forward_terms, name_a_place_and_read_it_again) {
    const auto written = forward_destination({"ExternalSystem", "https://erp/orders"});
    EXPECT_EQ(written, "forward:ExternalSystem/https://erp/orders");
    const auto read = forward_place_of(written);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->category, "ExternalSystem");
    EXPECT_EQ(read->target, "https://erp/orders");
    EXPECT_FALSE(forward_place_of("stock"));
    EXPECT_FALSE(forward_place_of("forward:ExternalSystem"));
}

TEST(forward_terms, a_category_is_a_word) {
    EXPECT_TRUE(is_forward_category("ExternalSystem"));
    EXPECT_TRUE(is_forward_category("plant-7_v1.2"));
    for (const auto* const bad : {"", "a/b", "a b", "ä", "a\n"})
        EXPECT_FALSE(is_forward_category(bad)) << bad;
    EXPECT_FALSE(is_forward_category(std::string(65, 'x')));
}

TEST(forward_terms, are_read_as_they_were_written) {
    const forward_terms said{.interval = std::chrono::milliseconds(1500),
                             .attempts_first = true,
                             .origin_instance = "line \"3\"",
                             .execution_id = "e1",
                             .source_script = "ship.lua",
                             .parent_execution_id = "e0"};
    const auto read = read_forward_terms(write_forward_terms(said));
    EXPECT_EQ(read.interval, said.interval);
    EXPECT_TRUE(read.attempts_first);
    EXPECT_EQ(read.origin_instance, said.origin_instance);
    EXPECT_EQ(read.execution_id, said.execution_id);
    EXPECT_EQ(read.source_script, said.source_script);
    EXPECT_EQ(read.parent_execution_id, said.parent_execution_id);
}

TEST(forward_terms, what_cannot_be_read_is_as_if_nothing_were_said) {
    for (const auto* const odd : {"", "{}", "[]", "not json", R"({"sf":7})",
                                  R"({"sf":{"interval":"soon","now":"yes","origin":7}})"}) {
        const auto read = read_forward_terms(odd);
        EXPECT_EQ(read.interval, std::chrono::seconds{30}) << odd;
        EXPECT_FALSE(read.attempts_first) << odd;
        EXPECT_EQ(read.origin_instance, "") << odd;
    }
    EXPECT_EQ(read_forward_terms(R"({"sf":{"interval":-5}})").interval.count(), 1)
        << "none is tried without a pause";
    EXPECT_EQ(read_forward_terms(R"({"sf":{"interval":9223372036854775807}})").interval,
              std::chrono::days{366});
}

// The document counts the attempts of its sweeps; an outbox counts those after the first.
TEST(forward_terms, count_retries_as_the_document_does) {
    EXPECT_EQ(outbox_retries(0, true), retry_for_ever);
    EXPECT_EQ(outbox_retries(0, false), retry_for_ever);
    EXPECT_EQ(outbox_retries(3, true), 3) << "the first attempt, then three";
    EXPECT_EQ(outbox_retries(3, false), 2) << "three in all";
    EXPECT_EQ(outbox_retries(1, false), 0);
    EXPECT_EQ(forward_retries(0, true), 0);
    EXPECT_EQ(forward_retries(1, true), 0);
    EXPECT_EQ(forward_retries(4, true), 3);
    EXPECT_EQ(forward_retries(3, false), 3);
}

}  // namespace
}  // namespace posthorn
