#include "store/rules/order_rules.hpp"

#include <gmock/gmock.h>

#include "unit/store/fake_driver.hpp"

namespace posthorn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class a_store final : public order_rules<test::fake_driver, test::fake_log> {
public:
    a_store(test::fake_connection& database, const clock& time, test::fake_log& log)
        : order_rules(database, {.time = time, .rules = {.source = "orders"}, .log = log},
                      {.policy = {"policy"},
                       .scope = {"scope"},
                       .head = {"head"},
                       .release = {"release"},
                       .place = {"place"},
                       .due_row = {"due_row"}}) {}

    result<> let_go(const order_scope& of) override {
        POSTHORN_LET(found, release_first(of));
        had_one = found;
        return {};
    }

    std::optional<bool> had_one;
};

class an_order : public ::testing::Test {
protected:
    /// A whole row, as `read_row` reads it.
    static std::vector<test::fake_row::value> row(std::int64_t seq,
                                                  const std::string& destination = "billing") {
        return {seq,
                "0190a3b4-0000-7000-8000-000000000001",
                "Command",
                destination,
                "Charge",
                "{}",
                "application/json",
                "",
                "",
                "",
                "k",
                "",
                nullptr,
                nullptr,
                std::int64_t{0},
                std::int64_t{3},
                std::int64_t{1},
                std::int64_t{2'000'000},
                nullptr,
                std::int64_t{0},
                nullptr};
    }
    std::vector<std::int64_t> released() {
        std::vector<std::int64_t> seqs;
        for (const auto& one : keys.take_released()) seqs.push_back(one.seq);
        return seqs;
    }

    test::fake_connection database;
    test::fake_clock time;
    test::fake_log log;
    a_store keys{database, time, log};
};

TEST_F(an_order, lets_the_first_one_of_the_key_go_after_a_message) {
    database.answer("scope", {"billing", "k", "t"});
    database.answer("head", {std::int64_t{7}});
    database.change("release", 1);
    database.answer("due_row", row(7));
    ASSERT_TRUE(keys.let_go_after(5));
    EXPECT_THAT(database.take(),
                ElementsAre("scope(5)", "head(billing, k, t)", "release(7)", "due_row(7, 1000)"));
    EXPECT_THAT(released(), ElementsAre(7));
    EXPECT_THAT(released(), IsEmpty()) << "they are taken once";
}

TEST_F(an_order, lets_nobody_go_after_a_message_without_a_key) {
    ASSERT_TRUE(keys.let_go_after(5));
    EXPECT_THAT(database.take(), ElementsAre("scope(5)"));
}

TEST_F(an_order, tells_whether_one_of_the_key_was_pending) {
    ASSERT_TRUE(keys.let_go({.destination = "billing", .order_key = "k", .tenant = ""}));
    EXPECT_EQ(keys.had_one, false);
    database.answer("head", {std::int64_t{7}});
    database.change("release", 0);  // Something is in its way, or it is not parked.
    ASSERT_TRUE(keys.let_go({.destination = "billing", .order_key = "k", .tenant = ""}));
    EXPECT_EQ(keys.had_one, true);
    EXPECT_THAT(released(), IsEmpty());
}

TEST_F(an_order, leaves_what_is_no_message_or_not_due_to_the_cold_path) {
    database.change("release", 1);
    database.answers["due_row"].push_back(test::fake_rows());
    database.answer("due_row", row(8, ""));
    database.answer("due_row", row(9));
    const std::vector<std::int64_t> seqs{7, 8, 9};
    EXPECT_EQ(keys.release_unblocked(seqs), 3);
    EXPECT_THAT(released(), ElementsAre(9));
    EXPECT_THAT(log.lines, ElementsAre("outbox.released [7 8 9]"));
}

TEST_F(an_order, counts_and_logs_only_what_was_released) {
    database.change("release", 0);
    database.change("release", 1);
    const std::vector<std::int64_t> seqs{1, 2};
    EXPECT_EQ(keys.release_unblocked(seqs), 1);
    EXPECT_THAT(log.lines, ElementsAre("outbox.released [2]"));
}

TEST_F(an_order, keeps_the_policy) {
    ASSERT_TRUE(keys.set_policy(order_policy::pass));
    EXPECT_THAT(database.take(), ElementsAre("policy(pass)"));
}

}  // namespace
}  // namespace posthorn
