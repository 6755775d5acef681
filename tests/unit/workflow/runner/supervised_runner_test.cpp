#include "workflow/runner/supervised_runner.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A runner that falls on some keys, and what it was told.
struct stage {
    std::multiset<std::uint64_t> falls_on{};
    std::vector<std::string> told{};  // `fresh 1`, `next 1`, `release 1`
    bool lies = false;
    bool gives_garbage = false;
    bool cannot_start = false;
};

class played_runner final : public runner_link {
public:
    explicit played_runner(stage& in) : in_(in) {}

    result<std::string> exchange(std::string_view body, std::chrono::milliseconds) override {
        const auto batch = decode_batch(body);
        EXPECT_TRUE(batch);
        std::vector<completion> all;
        for (const auto key : batch->released) in_.told.push_back("release " + std::to_string(key));
        for (const auto& one : batch->activations) {
            in_.told.push_back((one.is_fresh ? "fresh " : "next ") + std::to_string(one.key));
            if (const auto fell = in_.falls_on.find(one.key); fell != in_.falls_on.end()) {
                in_.falls_on.erase(fell);
                return fail(error_code::closed, "the runner was ended by signal 11");
            }
            all.push_back(
                {.key = in_.lies ? one.key + 1 : one.key,
                 .kind = one.key == 66 ? completion_kind::stale : completion_kind::stepped});
        }
        return in_.gives_garbage ? std::string("?") : encode_completions(all);
    }

private:
    stage& in_;
};

supervised_runner runner_on(stage& in) {
    return {[&in]() -> result<std::unique_ptr<runner_link>> {
                if (in.cannot_start)
                    return fail(error_code::invalid_configuration, "this kernel has no Landlock");
                return std::make_unique<played_runner>(in);
            },
            {}};
}

std::vector<runner_work> work_on(std::initializer_list<std::uint64_t> keys) {
    std::vector<runner_work> all;
    for (const auto key : keys)
        all.push_back({key, [key](bool must_be_fresh) {
                           return activation{.key = key,
                                             .is_fresh = must_be_fresh,
                                             .event = detail::flow_event{}};
                       }});
    return all;
}

TEST(supervised_runner, starts_when_it_is_needed_and_keeps_frames) {
    stage in;
    auto runner = runner_on(in);
    EXPECT_EQ(runner.starts(), 0U);
    const auto first = runner.run(work_on({1, 2}));
    ASSERT_TRUE(first);
    EXPECT_TRUE(first->at(0).answered);
    EXPECT_TRUE(runner.has_frame(2));
    runner.release(2);
    ASSERT_TRUE(runner.run(work_on({1, 2})));
    EXPECT_EQ(runner.starts(), 1U);
    EXPECT_THAT(in.told, ElementsAre("fresh 1", "fresh 2", "release 2", "next 1", "fresh 2"));
}

TEST(supervised_runner, runs_one_by_one_after_a_death_and_holds_who_does_it_twice) {
    stage in{.falls_on = {2, 2}};
    auto runner = runner_on(in);
    const auto seen = runner.run(work_on({1, 2, 3}));
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->at(0).answered);
    EXPECT_FALSE(seen->at(1).answered);
    EXPECT_THAT(seen->at(1).fault, HasSubstr("signal 11"));
    EXPECT_TRUE(seen->at(2).answered);
    EXPECT_EQ(seen->at(2).fault, "");
    EXPECT_EQ(runner.starts(), 3U);
    EXPECT_THAT(in.told, ElementsAre("fresh 1", "fresh 2", "fresh 1", "fresh 2", "fresh 3"));
}

TEST(supervised_runner, tells_a_new_runner_from_the_beginning) {
    stage in;
    auto runner = runner_on(in);
    ASSERT_TRUE(runner.run(work_on({1})));
    in.falls_on = {1};
    const auto seen = runner.run(work_on({1}));
    ASSERT_TRUE(seen);
    EXPECT_TRUE(seen->front().answered);
    EXPECT_THAT(in.told, ElementsAre("fresh 1", "next 1", "fresh 1"));
}

TEST(supervised_runner, ends_one_that_lies_or_says_what_is_no_answer) {
    stage in{.lies = true};
    auto runner = runner_on(in);
    const auto seen = runner.run(work_on({1}));
    ASSERT_TRUE(seen);
    EXPECT_THAT(seen->front().fault, HasSubstr("lies"));
    EXPECT_EQ(runner.starts(), 2U);
    in = {.gives_garbage = true};
    EXPECT_NE(runner.run(work_on({1}))->front().fault, "");
}

TEST(supervised_runner, blames_no_instance_when_none_can_be_started) {
    stage in{.cannot_start = true};
    auto runner = runner_on(in);
    const auto seen = runner.run(work_on({1, 2}));
    ASSERT_FALSE(seen);
    EXPECT_THAT(seen.error().what(), HasSubstr("Landlock"));
    in.cannot_start = false;
    EXPECT_TRUE(runner.run(work_on({1, 2})));
}

TEST(supervised_runner, tells_anew_what_was_stale) {
    stage in;
    auto runner = runner_on(in);
    ASSERT_TRUE(runner.run(work_on({66})));
    EXPECT_FALSE(runner.has_frame(66));
    EXPECT_FALSE(runner.run(work_on({1, 1})));
}

}  // namespace
}  // namespace posthorn
