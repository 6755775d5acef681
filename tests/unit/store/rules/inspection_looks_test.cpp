#include "store/rules/inspection_looks.hpp"

#include <algorithm>
#include <limits>

#include <gmock/gmock.h>

#include "unit/store/fake_driver.hpp"

namespace posthorn {
namespace {

using ::testing::ElementsAre;

struct fake_flows {
    explicit fake_flows(test::fake_connection&) {}

    [[nodiscard]] result<std::vector<std::string>> destinations(std::size_t limit) const {
        auto some = names;
        some.resize(std::min(limit, some.size()));
        return some;
    }

    std::vector<std::string> names{};
};

class a_store final : public inspection_looks<test::fake_driver, fake_flows> {
public:
    explicit a_store(test::fake_connection& database)
        : inspection_looks(database, {.count_pending = {"pending"},
                                      .count_sent = {"sent"},
                                      .count_closed = {"closed"},
                                      .count_dead_messages = {"dead_messages"},
                                      .show = {"show"},
                                      .attempts = {"attempts"},
                                      .waits_behind = {"waits_behind"},
                                      .blocked = {"blocked"},
                                      .newest = {"newest"},
                                      .highest = {"highest"},
                                      .times_from = {"times_from"},
                                      .inbox_count = {"inbox_count"},
                                      .inbox_ends = {"inbox_ends"}}) {}

    using inspection_looks::list;
    result<inbox_list> list(const inbox_filter&) override { return inbox_list{}; }
    using inspection_looks::flows;
    using inspection_looks::note_waiting;

    std::int64_t asked_below = -1;

private:
    result<message_list> list_down(const message_filter& wanted) override {
        asked_below = wanted.before_seq;
        return message_list{};
    }
    result<> look_at(destination_backlog& into, wall_time, const backlog_limits&) override {
        into.pending.value = std::ssize(into.destination);
        return {};
    }
};

class looks : public ::testing::Test {
protected:
    test::fake_connection database;
    a_store store{database};
};

TEST_F(looks, count_a_status_by_its_own_statement_and_no_further_than_asked) {
    database.answer("pending", {std::int64_t{11}});
    EXPECT_EQ(store.count(outbox_status::pending, 10), (bounded_count{10, true}));
    database.answer("closed", {std::int64_t{10}});
    EXPECT_EQ(store.count(outbox_status::dead, 10), (bounded_count{10, false}));
    EXPECT_THAT(database.take(), ElementsAre("pending(11)", "closed(Dead, 11)"));
}

TEST_F(looks, estimate_the_inbox_from_its_ends_once_it_is_large) {
    database.answer("inbox_count", {std::int64_t{5}});
    EXPECT_EQ(store.inbox_size(10), (bounded_count{5, false}));
    database.answers.clear();
    database.answer("inbox_count", {std::int64_t{11}});
    database.answer("inbox_ends", {std::int64_t{2}, std::int64_t{1'001}});
    EXPECT_EQ(store.inbox_size(10), (bounded_count{1'000, true}));
}

TEST_F(looks, report_destinations_in_order_and_whether_some_were_left_out) {
    store.flows().names = {"a", "bb", "ccc"};
    auto report = store.backlog({}, {.destinations_max = 3}).value();
    EXPECT_FALSE(report.more);
    EXPECT_EQ(report.destinations.size(), 3U);
    report = store.backlog({}, {.destinations_max = 2}).value();
    EXPECT_TRUE(report.more);
    ASSERT_EQ(report.destinations.size(), 2U);
    EXPECT_EQ(report.destinations[1].destination, "bb");
    EXPECT_EQ(report.destinations[1].pending.value, 2);
}

TEST_F(looks, begin_a_list_that_ends_at_a_time_near_the_first_older_row) {
    ASSERT_TRUE(store.list(message_filter{.before_seq = 7}));
    EXPECT_EQ(store.asked_below, 7);
    EXPECT_THAT(database.take(), ElementsAre()) << "without an end there is nothing to look for";
    ASSERT_TRUE(store.list(message_filter{.until = from_ms(1'000)}));
    EXPECT_EQ(store.asked_below, 1) << "of an empty table";
    EXPECT_THAT(database.take(), ElementsAre("highest()"));

    database.answer("highest", {std::int64_t{99'999}});
    database.answer("times_from", {std::int64_t{61'000}});
    database.answer_rows("times_from", {{std::int64_t{61'000}}, {std::int64_t{60'999}}});
    ASSERT_TRUE(store.list(message_filter{.until = from_ms(1'000)}));
    EXPECT_EQ(store.asked_below, 100'000);
    EXPECT_THAT(database.take(),
                ElementsAre("highest()", "times_from(90000, 16)", "times_from(80000, 16)"));
    ASSERT_TRUE(store.list(message_filter{.until = from_ms(1'000), .before_seq = 30'000}));
    EXPECT_EQ(store.asked_below, 30'000);
    EXPECT_THAT(database.take(), ElementsAre("highest()", "times_from(20000, 16)"));
    database.answers["highest"] = {};
    database.answer("highest", {std::numeric_limits<std::int64_t>::max()});
    ASSERT_TRUE(store.list(message_filter{.until = from_ms(1'000)}));
    EXPECT_GT(store.asked_below, 1) << "a row with the last of all numbers is no trouble";
}

TEST_F(looks, know_the_oldest_that_could_have_gone_out_and_the_first_that_cannot) {
    destination_backlog seen{
        .destination = "a", .pending = {}, .undeliverable = {}, .undeliverable_error = {}};
    const auto now = from_ms(100);
    a_store::note_waiting(seen, from_ms(101), "", now);
    EXPECT_EQ(seen.oldest, std::nullopt) << "it is for later";
    a_store::note_waiting(seen, from_ms(50), "", now);
    a_store::note_waiting(seen, from_ms(60), "no_handler: first", now);
    a_store::note_waiting(seen, from_ms(40), "no_handler: second", now);
    EXPECT_EQ(seen.oldest, from_ms(40));
    EXPECT_EQ(seen.undeliverable.value, 2);
    EXPECT_EQ(seen.undeliverable_error, "no_handler: first");
}

TEST_F(looks, show_attempts_with_the_first_one_first) {
    EXPECT_EQ(store.show(uuid{}, false).value(), std::nullopt);
    std::vector<test::fake_row::value> row(summary_columns_count + 4, nullptr);
    row[0] = std::int64_t{7};
    row[summary_columns_count] = std::int64_t{2};
    row[summary_columns_count + 2] = "{}";
    database.answer("show", row);
    database.answer_rows("attempts", {{std::int64_t{2}, std::int64_t{20}, "later"},
                                      {std::int64_t{1}, std::int64_t{10}, "first"}});
    const auto shown = store.show(uuid{}, false).value();
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->payload, "") << "it was not asked for";
    ASSERT_EQ(shown->attempts.size(), 2U);
    EXPECT_EQ(shown->attempts[0].error, "first");
    EXPECT_EQ(store.show(uuid{}, true).value()->payload, "{}");
}

}  // namespace
}  // namespace posthorn
