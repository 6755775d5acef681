#include "store/commit/unit_queue.hpp"

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "base/async/virtual_time.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Jobs wait until the test lets them run.
class held_jobs final : public executor {
public:
    void post(job work) override { jobs.push_back(std::move(work)); }
    void rest(std::chrono::nanoseconds) override {}
    void run_one() {
        auto next = std::move(jobs.front());
        jobs.pop_front();
        next();
    }

    std::deque<job> jobs;
};

class a_unit_queue : public ::testing::Test {
protected:
    explicit a_unit_queue(unit_queue::alone_units alone = unit_queue::alone_units::share)
        : queue(thread, time, [this] { work(); }, alone) {}

    /// As a writer does, but that it answers with success at once.
    void work() {
        std::vector<std::string> group;
        for (auto& one : queue.take(units_max)) {
            if (at_work) at_work();
            one.work.done({});
            group.push_back(std::exchange(last_, {}));
        }
        groups.push_back(std::move(group));
        queue.go_on();
    }
    unit named(const std::string& name, bool lazy = false, bool alone = false) {
        return {.work = [](store_transaction&) { return result<>{}; },
                .done =
                    [this, name](const result<>& outcome) {
                        last_ = name;
                        if (!outcome) refused.emplace_back(outcome.error().name());
                    },
                .lazy = lazy,
                .alone = alone};
    }
    void submit(const std::string& name, bool lazy = false, bool alone = false) {
        std::vector<unit> one;
        one.push_back(named(name, lazy, alone));
        queue.submit(std::move(one));
    }

    std::size_t units_max = 4;
    held_jobs thread;
    virtual_time time;
    std::function<void()> at_work;  // Before each is answered.
    std::vector<std::vector<std::string>> groups;
    std::vector<std::string> refused;
    unit_queue queue;

    std::vector<std::chrono::nanoseconds> seen;

private:
    std::string last_;
};

class a_unit_queue_for_alone_units : public a_unit_queue {
protected:
    a_unit_queue_for_alone_units() : a_unit_queue(unit_queue::alone_units::are_alone) {}
};

TEST_F(a_unit_queue, posts_work_once_for_all_that_gathers) {
    submit("a");
    submit("b");
    EXPECT_EQ(thread.jobs.size(), 1U);
    thread.run_one();
    EXPECT_THAT(groups, ElementsAre(ElementsAre("a", "b")));
    EXPECT_THAT(thread.jobs, IsEmpty());
}

TEST_F(a_unit_queue, posts_it_again_for_what_did_not_fit) {
    for (const auto* name : {"a", "b", "c", "d", "e"}) submit(name);
    thread.run_one();
    ASSERT_EQ(thread.jobs.size(), 1U);
    thread.run_one();
    EXPECT_THAT(groups, ElementsAre(ElementsAre("a", "b", "c", "d"), ElementsAre("e")));
}

TEST_F(a_unit_queue, lets_lazy_units_wait_for_others_and_then_some_of_them_go_first) {
    for (const auto* name : {"x", "y"}) submit(name, true);
    EXPECT_THAT(thread.jobs, IsEmpty());
    EXPECT_FALSE(queue.has_work());
    for (const auto* name : {"a", "b"}) submit(name);
    thread.run_one();
    EXPECT_THAT(groups, ElementsAre(ElementsAre("x", "a", "b", "y")));
    EXPECT_THAT(thread.jobs, IsEmpty());
}

TEST_F(a_unit_queue, lets_lazy_units_that_found_no_room_in_a_commit_have_the_next) {
    for (const auto* each : {"1", "2", "3", "4", "5", "6", "7", "8", "9"}) submit(each, true);
    EXPECT_THAT(thread.jobs, IsEmpty());
    submit("a");
    while (!thread.jobs.empty()) thread.run_one();
    EXPECT_THAT(groups, ElementsAre(ElementsAre("1", "a", "2", "3"),
                                    ElementsAre("4", "5", "6", "7"), ElementsAre("8", "9")));
    submit("late", true);
    EXPECT_THAT(thread.jobs, IsEmpty());
}

TEST_F(a_unit_queue, takes_one_whose_submitter_works_only_while_nobody_else_writes) {
    auto first = named("a");
    EXPECT_TRUE(queue.submit_here(first));
    auto second = named("b");
    EXPECT_FALSE(queue.submit_here(second)) << "somebody works";
    EXPECT_TRUE(second.work) << "it was left as it is";
    work();
    EXPECT_THAT(groups, ElementsAre(ElementsAre("a")));
    EXPECT_THAT(thread.jobs, IsEmpty());
    submit("c");
    submit("d");
    thread.run_one();
    EXPECT_FALSE(queue.submit_here(second)) << "there were two just now";
}

TEST_F(a_unit_queue, knows_how_long_the_oldest_has_waited_until_it_is_answered) {
    submit("lazy", true);
    time.advance(1h);
    EXPECT_EQ(queue.longest_wait(), 0s) << "it waits for others to cause a commit";
    submit("a");
    time.advance(2s);
    submit("b");
    time.advance(3s);
    EXPECT_EQ(queue.longest_wait(), 5s);
    at_work = [&] {
        time.advance(1s);
        seen.push_back(queue.longest_wait());
    };
    thread.run_one();
    EXPECT_THAT(seen, ElementsAre(6s, 7s, 8s)) << "in hand, and not answered yet";
    EXPECT_EQ(queue.longest_wait(), 0s);
}

TEST_F(a_unit_queue, counts_for_those_that_did_not_fit_from_when_they_came) {
    for (const auto* name : {"a", "b", "c", "d"}) submit(name);
    time.advance(2s);
    submit("e");
    time.advance(3s);
    thread.run_one();
    EXPECT_EQ(queue.longest_wait(), 3s);
    thread.run_one();
    EXPECT_EQ(queue.longest_wait(), 0s);
}

TEST_F(a_unit_queue, waits_for_nothing_once_what_was_taken_is_put_down) {
    submit("a");
    time.advance(2s);
    const auto taken = queue.take(units_max);
    EXPECT_EQ(queue.longest_wait(), 2s);
    queue.put_down();
    EXPECT_EQ(queue.longest_wait(), 0s);
}

TEST_F(a_unit_queue, works_for_a_call_without_units) {
    queue.call();
    EXPECT_EQ(thread.jobs.size(), 1U);
    EXPECT_TRUE(queue.has_work());
    EXPECT_FALSE(queue.has_units());
    EXPECT_TRUE(queue.was_called());
    EXPECT_FALSE(queue.was_called());
}

TEST_F(a_unit_queue, answers_all_with_the_failure_once_it_has_failed) {
    submit("a");
    submit("b", true);
    queue.fail({error_code::store_failed, "in doubt"});
    submit("c");
    EXPECT_THAT(refused, ElementsAre("store_failed", "store_failed", "store_failed"));
    EXPECT_EQ(queue.failure()->code(), error_code::store_failed);
    auto here = named("d");
    thread.run_one();
    EXPECT_FALSE(queue.submit_here(here));
}

TEST_F(a_unit_queue, stops_when_all_are_done_even_lazy_ones_and_refuses_the_rest) {
    worker_threads real("stopping");
    std::vector<std::string> done;
    unit_queue subject(
        real, time,
        [&] {
            for (auto& one : subject.take(4)) one.work.done({});
            subject.go_on();
        },
        unit_queue::alone_units::share);
    std::vector<unit> lazy;
    lazy.push_back(
        {.work = {}, .done = [&](const result<>&) { done.emplace_back("lazy"); }, .lazy = true});
    subject.submit(std::move(lazy));
    subject.stop();
    EXPECT_THAT(done, ElementsAre("lazy"));
    std::vector<unit> late;
    late.push_back(named("late"));
    subject.submit(std::move(late));
    EXPECT_THAT(refused, ElementsAre("closed"));
}

TEST_F(a_unit_queue, gives_units_that_want_to_be_alone_company_where_only_one_writes) {
    submit("a");
    submit("b", false, true);
    thread.run_one();
    EXPECT_THAT(groups, ElementsAre(ElementsAre("a", "b")));
}

TEST_F(a_unit_queue_for_alone_units, gives_them_a_group_each) {
    submit("a");
    submit("b", false, true);
    submit("c");
    while (!thread.jobs.empty()) thread.run_one();
    EXPECT_THAT(groups, ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c")));
}

}  // namespace
}  // namespace posthorn
