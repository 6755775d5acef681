// Commands that a workflow answers.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/flow_test.hpp>

#include "unit/workflow/flows.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

struct changed {
    std::string card;
};
struct change_card {
    using contract = as_command<"ChangeCard", changed>;
    std::string customer, card;
};
struct stop {
    using contract = as_command<"Stop">;
    std::string customer;
};

struct plan {
    std::string card = "none";
};

/// A month is an hour.
workflow<std::string> subscribes(flow<plan>& f, std::string customer) {
    for (int month = 0; month < 3; ++month) {
        auto next = co_await f.first(f.receive(the<&change_card::customer> == customer),
                                     f.receive(the<&stop::customer> == customer), f.sleep(1h));
        if (next.index() == 0) {
            const auto& asked = std::get<0>(next);
            if (asked->card.empty()) {
                asked.refuse("a card has a number");
            } else {
                f.state.card = asked->card;
                asked.answer(changed{asked->card});
            }
        } else if (next.index() == 1) {
            std::get<1>(next).answer();
            co_return "stopped";
        }
    }
    co_return f.state.card;
}

TEST(receive, takes_commands_that_fit_and_answers_or_refuses_them) {
    flow_test t(subscribes, "c1");
    EXPECT_THAT(t.waits_for(), testing::Contains(R"(ChangeCard where customer == "c1")"));
    const auto good = t.request(change_card{"c1", "4000"});
    EXPECT_EQ(good.response().card, "4000");
    const auto bad = t.request(change_card{"c1", ""});
    EXPECT_EQ(bad.refusal(), "a card has a number");
    const auto strange = t.request(change_card{"c2", "5000"});
    EXPECT_FALSE(strange.is_answered());
    EXPECT_THROW(static_cast<void>(strange.response()), flow_test_failed);
    EXPECT_THROW(static_cast<void>(good.refusal()), flow_test_failed);
    const auto end = t.request(stop{"c1"});
    end.response();
    EXPECT_EQ(t.result(), "stopped");
    EXPECT_EQ(t.state().card, "4000");
    t.crash_everywhere();
    t.explore(100);
}

TEST(receive, keeps_a_command_that_comes_early) {
    flow_test t(+[](flow<>& f) static -> workflow<void> {
        co_await f.sleep(1h);
        const auto asked = co_await f.receive<change_card>();
        co_await f.call<billing>(charge{asked->customer, 1});
        asked.answer(changed{"later"});
    });
    const auto early = t.request(change_card{"c1", "4000"});
    EXPECT_FALSE(early.is_answered());
    t.advance(1h);
    EXPECT_FALSE(early.is_answered()) << "the workflow has it, and takes its time";
    t.expect_call<charge>().answer(receipt{"r"});
    EXPECT_EQ(early.response().card, "later");
    EXPECT_THAT(t.history(), ElementsAre("1 start: sleep", "2 elapsed 1: receive ChangeCard",
                                         "3 signalled 2: call billing/v1/Charge",
                                         "4 answered 3: answer ChangeCard"));
}

TEST(receive, refuses_for_a_workflow_that_ends_without_an_answer) {
    flow_test t(+[](flow<>& f) static -> workflow<void> { co_await f.receive<change_card>(); });
    EXPECT_EQ(t.request(change_card{"c1", "4000"}).refusal(),
              "the workflow has ended without an answer");
}

TEST(receive, takes_a_second_answer_for_a_bug) {
    flow_test t(+[](flow<>& f) static -> workflow<void> {
        const auto asked = co_await f.receive<stop>();
        asked.answer();
        asked.refuse("too late");
    });
    t.request(stop{"c1"});
    EXPECT_THAT(t.quarantine(), HasSubstr("the Command Stop is answered already"));
}

workflow<std::string> asks_twice(flow<plan>& f, int run) {
    const auto asked = co_await f.receive<change_card>();
    if (run == 1) co_await f.again(asks_twice, 2);
    asked.answer(changed{"in the second run"});
    co_return asked->card;
}
POSTHORN_WORKFLOW(asks_twice, "AsksTwice", 1)

TEST(receive, gives_what_a_run_has_not_answered_to_the_next_one) {
    flow_test t(asks_twice, 1);
    const auto asked = t.request(change_card{"c1", "4000"});
    EXPECT_EQ(t.run(), 2U);
    EXPECT_EQ(asked.response().card, "in the second run");
    EXPECT_EQ(t.result(), "4000");
}

}  // namespace
}  // namespace posthorn
