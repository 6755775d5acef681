#include "admin/node_view.hpp"

#include "base/async/task_group.hpp"
#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Readers that wait for their database, until the test lets it answer.
class held_readers final : public executor {
public:
    void post(job work) override {
        jobs_.push_back(std::move(work));
        if (!held) answer();
    }
    void rest(std::chrono::nanoseconds) override {}
    void answer() {
        for (auto& each : std::exchange(jobs_, {})) each();
    }
    [[nodiscard]] std::size_t waiting() const { return jobs_.size(); }

    bool held = false;

private:
    std::vector<job> jobs_;
};

class a_view_of_a_node : public admin_fixture {
protected:
    ~a_view_of_a_node() override {
        readers.answer();
        loop.run(asking_.join());
    }

    void ask_for_it() {
        asking_.spawn(keep());
        loop.settle();
    }
    [[nodiscard]] health_verdict last() const { return judge_health(seen.back()->facts); }

    held_readers readers;
    node_view view{{.service = "orders",
                    .version = "1",
                    .stores = {&store()},
                    .readers = readers,
                    .time = loop.time(),
                    .broken = [this] { return broken; },
                    .sleeper = &loop.time()}};
    std::vector<std::shared_ptr<const node_view::state>> seen;

private:
    task<> keep() { seen.push_back(co_await view.look()); }
    task_group asking_{loop.executor()};
};

TEST_F(a_view_of_a_node, is_not_green_while_the_store_does_not_answer) {
    ask_for_it();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(last().status, health_level::green);
    readers.held = true;
    loop.run_for(1s);
    ask_for_it();
    EXPECT_EQ(seen.size(), 1U) << "it waits for an answer";
    loop.run_for(3s);
    ASSERT_EQ(seen.size(), 2U) << "but not for long";
    EXPECT_EQ(last().status, health_level::yellow);
    EXPECT_TRUE(last().working);
    EXPECT_THAT(last().reasons,
                ElementsAre(HasSubstr("has not answered a question for 3 s, since " +
                                      to_iso8601(loop.time().wall() - 3s))));
    loop.run_for(7s);
    broken = {"a write has waited for 10 s"};
    ask_for_it();
    ASSERT_EQ(seen.size(), 3U) << "at once";
    EXPECT_FALSE(last().working);
    EXPECT_FALSE(seen.back()->store_read);
    EXPECT_THAT(last().reasons, ElementsAre("a write has waited for 10 s",
                                            HasSubstr("has not answered a question for 10 s")));
    EXPECT_EQ(readers.waiting(), 1U) << "one question is enough";
    broken.clear();
    readers.held = false;
    readers.answer();
    loop.run_for(1s);
    ask_for_it();
    EXPECT_EQ(last().status, health_level::green);
    EXPECT_THAT(last().reasons, IsEmpty());
}

TEST_F(a_view_of_a_node, tells_all_who_ask_before_the_store_has_ever_answered) {
    readers.held = true;
    ask_for_it();
    ask_for_it();
    EXPECT_EQ(readers.waiting(), 1U);
    loop.run_for(3s);
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(last().status, health_level::yellow);
}

}  // namespace
}  // namespace posthorn
