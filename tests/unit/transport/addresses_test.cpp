#include "transport/addresses.hpp"

#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"

namespace posthorn {
namespace {

delivery said(outcome what) { return {.what = what}; }

TEST(addresses, are_asked_in_turn_until_one_says_what_became_of_a_message) {
    struct row {
        std::vector<delivery> answers;
        bool asks_next;
    };
    const std::vector<row> table{
        {{said(outcome::delivered)}, false},
        {{said(outcome::permanent)}, false},
        {{said(outcome::transient)}, false},
        {{said(outcome::undeliverable)}, false},
        {{said(outcome::unanswered)}, true},
        {{said(outcome::throttled)}, true},
        {{said(outcome::unanswered), said(outcome::throttled)}, true},
        {{said(outcome::unanswered), said(outcome::delivered)}, false},
    };
    for (const auto& each : table) EXPECT_EQ(asks_next_address(each.answers), each.asks_next);
}

TEST(addresses, charge_no_message_where_one_of_them_asks_for_patience) {
    const std::vector silent{said(outcome::unanswered)};
    const std::vector patient{said(outcome::throttled)};
    EXPECT_EQ(kinder_answers(silent, patient).front().what, outcome::throttled);
    EXPECT_EQ(kinder_answers(patient, silent).front().what, outcome::throttled);
    EXPECT_EQ(kinder_answers(silent, silent).front().what, outcome::unanswered);
}

/// Answers as it is told, and counts.
class an_address final : public transport {
public:
    an_address(outcome what, int& asked) : what_(what), asked_(asked) {}
    task<std::vector<delivery>> deliver(message_batch batch) override {
        ++asked_;
        co_return std::vector<delivery>(batch.size(), said(what_));
    }

private:
    outcome what_;
    int& asked_;
};

TEST(addresses, go_on_with_the_one_that_answered_last) {
    virtual_loop loop;
    int standby = 0;
    int primary = 0;
    std::vector<std::unique_ptr<transport>> ways;
    ways.push_back(std::make_unique<an_address>(outcome::throttled, standby));
    ways.push_back(std::make_unique<an_address>(outcome::delivered, primary));
    several_addresses both(std::move(ways));
    const message one;
    for (int i = 0; i < 3; ++i) {
        const auto answers = loop.run(both.deliver({&one}));
        ASSERT_EQ(answers.size(), 1U);
        EXPECT_EQ(answers.front().what, outcome::delivered);
    }
    EXPECT_EQ(standby, 1);
    EXPECT_EQ(primary, 3);
}

}  // namespace
}  // namespace posthorn
