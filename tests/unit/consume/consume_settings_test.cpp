#include "consume/consume_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using fields = feature_tables::fields;
using testing::HasSubstr;
using testing::Not;

result<std::vector<consume_source>> read(std::vector<fields> items) {
    return read_sources(feature_settings({{"sources", feature_tables{.items = std::move(items)}}}));
}

const fields good{{"name", "orders"},
                  {"url", "amqp://stock@rabbit/prod"},
                  {"queue", "stock"},
                  {"password", "env:RABBIT"}};

fields with(std::string_view name, std::string_view value) {
    auto changed = good;
    changed.insert_or_assign(std::string(name), value);
    return changed;
}

TEST(consume_settings, read_a_source_and_fill_in_what_it_leaves_out) {
    const auto all = read({good});
    ASSERT_TRUE(all) << all.error().what();
    const auto& one = all->front();
    EXPECT_EQ(one.options.at("queue"), "stock");
    EXPECT_EQ(one.password, "env:RABBIT");
    EXPECT_EQ(one.rules.source, "orders");
    EXPECT_EQ(one.rules.endpoint, "header:rf-endpoint");
    EXPECT_EQ(one.patience.tries_max, 10U);
}

TEST(consume_settings, refuse_what_cannot_work_and_say_which_entry) {
    const std::pair<std::string_view, std::string_view> wrong[]{
        {"name", ""},     {"name", "a b"},    {"url", "kafka://k"}, {"url", "amqp://r?a"},
        {"window", "0"},  {"window", "many"}, {"tries", "0"},       {"id", "guess"},
        {"id", "offset"}, {"queues", "typo"}, {"endpoint", ""},     {"queue", ""}};
    for (const auto& [name, value] : wrong) {
        const auto all = read({with(name, value)});
        ASSERT_FALSE(all) << name << " = " << value;
        EXPECT_EQ(all.error().code(), error_code::invalid_configuration);
        EXPECT_THAT(all.error().what(), HasSubstr("entry 1"));
    }
    EXPECT_FALSE(read({good, good}));
}

TEST(consume_settings, repeat_no_password) {
    for (const auto& one :
         {with("password", "hunter2"), with("url", "amqp://stock:hunter2@rabbit/prod")}) {
        const auto all = read({one});
        ASSERT_FALSE(all);
        EXPECT_THAT(all.error().what(), Not(HasSubstr("hunter2")));
    }
}

TEST(consume_settings, of_nats_need_a_stream_and_may_go_by_its_offsets) {
    const fields nats{
        {"name", "audit"}, {"url", "nats://n1"}, {"stream", "AUDIT"}, {"id", "offset"}};
    EXPECT_TRUE(read({nats}));
    auto without = nats;
    without.erase("stream");
    EXPECT_FALSE(read({without}));
    auto bad = nats;
    bad.insert_or_assign("stream", "A.B");
    EXPECT_FALSE(read({bad}));
}

}  // namespace
}  // namespace posthorn
