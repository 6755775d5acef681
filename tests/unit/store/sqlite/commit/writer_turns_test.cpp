// Whose thread a unit runs on, and how often.
#include <array>
#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/executor.hpp"
#include "base/async/virtual_time.hpp"
#include "base/log/log.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "unit/store/sqlite/files.hpp"

namespace posthorn::sqlite {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Keeps jobs until it is told to run them, as a thread does that comes late.
class waiting_executor final : public executor {
public:
    void post(job work) override { jobs_.push_back(std::move(work)); }
    void rest(std::chrono::nanoseconds) override {}
    void run_all() {
        while (!jobs_.empty()) {
            auto next = std::move(jobs_.front());
            jobs_.pop_front();
            next();
        }
    }
    [[nodiscard]] bool empty() const { return jobs_.empty(); }

private:
    std::deque<job> jobs_;
};

class writer_turns : public on_a_file {
protected:
    void SetUp() override { open_file(false); }
    void open_file(bool shared) {
        file_.reset();
        auto opened = open({.path = path_, .service = "orders", .shared = shared},
                           {.time = time_, .writer = writer_, .log = log_});
        ASSERT_TRUE(opened) << opened.error().what();
        file_ = *std::move(opened);
    }

    /// Writes its name; `ran_` and `answered_` tell of it.
    unit named(const std::string& name, const result<>& end = {}) {
        return {.work = [this, name, end](store_transaction& tx) -> result<> {
                    ran_.push_back(name);
                    const std::array<sql_param, 1> with{std::string_view(name)};
                    POSTHORN_TRY(tx.execute("INSERT INTO t VALUES (?)", with));
                    return end;
                },
                .done =
                    [this, name](const result<>& outcome) {
                        answered_.push_back(name + (outcome ? " stored" : " refused"));
                    }};
    }
    unit refused(const std::string& name) {
        return named(name, fail(error_code::no_handler, "thought better of it"));
    }
    template <class... Units>
    void together(Units... units) {
        std::vector<unit> all;
        (all.push_back(std::move(units)), ...);
        file_->submit(std::move(all));
        writer_.run_all();
    }
    std::int64_t rows() { return plain_handle(path_).number("SELECT count(*) FROM t"); }

    virtual_time time_;
    waiting_executor writer_;
    logger log_ = logger::null();
    std::unique_ptr<store> file_;
    std::vector<std::string> ran_;
    std::vector<std::string> answered_;
};

TEST_F(writer_turns, who_waits_alone_commits_by_himself) {
    file_->submit_and_wait(named("a"));
    EXPECT_THAT(answered_, ElementsAre("a stored"));
    EXPECT_TRUE(writer_.empty());
    file_->submit_and_wait(named("b"));
    EXPECT_THAT(answered_, ElementsAre("a stored", "b stored"));
    EXPECT_EQ(rows(), 2);
}

TEST_F(writer_turns, who_waits_beside_others_shares_their_commit) {
    file_->submit(named("a"));
    file_->submit_and_wait(named("b"));
    EXPECT_THAT(answered_, IsEmpty());
    writer_.run_all();
    EXPECT_THAT(answered_, ElementsAre("a stored", "b stored"));

    file_->submit_and_wait(named("c"));  // There were two just now, so more may come.
    EXPECT_THAT(answered_, SizeIs(2));
    writer_.run_all();
    file_->submit_and_wait(named("d"));
    EXPECT_THAT(answered_, ElementsAre("a stored", "b stored", "c stored", "d stored"));
}

TEST_F(writer_turns, who_comes_while_one_commits_by_himself_is_not_forgotten) {
    auto first = named("a");
    first.done = [this](const result<>&) { file_->submit(named("b")); };
    file_->submit_and_wait(std::move(first));
    EXPECT_THAT(answered_, IsEmpty());
    writer_.run_all();
    EXPECT_THAT(answered_, ElementsAre("b stored"));
}

TEST_F(writer_turns, nobody_commits_by_himself_in_a_file_that_others_write_too) {
    open_file(true);
    file_->submit_and_wait(named("a"));
    EXPECT_THAT(answered_, IsEmpty());
    writer_.run_all();
    EXPECT_THAT(answered_, ElementsAre("a stored"));
}

TEST_F(writer_turns, a_stopped_store_refuses_whoever_waits) {
    file_->stop();
    file_->submit_and_wait(named("a"));
    EXPECT_THAT(answered_, ElementsAre("a refused"));
}

TEST_F(writer_turns, units_that_succeed_run_once) {
    together(named("a"), named("b"));
    EXPECT_THAT(ran_, ElementsAre("a", "b"));
    EXPECT_THAT(answered_, ElementsAre("a stored", "b stored"));
}

TEST_F(writer_turns, a_unit_that_fails_is_undone_alone_and_all_run_again) {
    together(named("a"), refused("b"), named("c"));
    EXPECT_THAT(ran_, ElementsAre("a", "b", "a", "b", "c"));
    EXPECT_THAT(answered_, ElementsAre("a stored", "b refused", "c stored"));
    EXPECT_EQ(rows(), 2);
}

TEST_F(writer_turns, after_a_failure_nobody_runs_again_for_a_while) {
    together(named("a"), refused("b"));
    ran_.clear();
    together(refused("c"), named("d"));
    EXPECT_THAT(ran_, ElementsAre("c", "d"));
    EXPECT_EQ(rows(), 2);
}

TEST_F(writer_turns, a_unit_that_fails_alone_runs_once) {
    together(refused("a"));
    EXPECT_THAT(ran_, ElementsAre("a"));
    EXPECT_THAT(answered_, ElementsAre("a refused"));
    EXPECT_EQ(rows(), 0);
}

/// Notes what the store tells.
class told final : public commit_taker {
public:
    explicit told(const std::string& path) : path_(path) {}

    void committing(const outbox_row& lone) override {
        all.push_back("committing " + std::to_string(lone.seq));
        EXPECT_EQ(plain_handle(path_).number("SELECT count(*) FROM outbox_messages"), 0);
    }
    void committed(std::vector<outbox_row> enqueued) override {
        for (const auto& row : enqueued) all.push_back("committed " + std::to_string(row.seq));
    }
    std::vector<std::string> all;

private:
    const std::string& path_;
};

class writer_tells : public writer_turns {
protected:
    void SetUp() override {
        writer_turns::SetUp();
        file_->hand_to(&told_);
    }
    void TearDown() override { file_->hand_to(nullptr); }
    unit sends(std::size_t messages, const result<>& end = {}) {
        return {.work = [this, messages, end](store_transaction& tx) -> result<> {
            for (std::size_t i = 0; i < messages; ++i) {
                static std::uint8_t made = 0;
                std::array<std::uint8_t, 16> id{};
                id.back() = ++made;
                message body;
                body.id = uuid(id);
                body.destination = "stock";
                body.endpoint = "Take";
                body.payload = "{}";
                body.expires_at = time_.wall() + std::chrono::hours{1};
                POSTHORN_TRY(tx.outbox().insert(body));
            }
            return end;
        }};
    }

    told told_{path_};
};

TEST_F(writer_tells, of_a_lone_message_before_its_commit) {
    together(sends(1), named("a"));
    EXPECT_THAT(told_.all, ElementsAre("committing 1", "committed 1"));
}

TEST_F(writer_tells, of_several_only_after_their_commit) {
    together(sends(2));
    together(sends(1), sends(1));
    EXPECT_THAT(told_.all, ElementsAre("committed 1", "committed 2", "committed 3", "committed 4"));
}

TEST_F(writer_tells, nothing_of_a_message_whose_unit_failed) {
    const auto undone = fail(error_code::no_handler, "thought better of it");
    together(sends(1, undone));
    together(sends(1, undone), named("a"));
    EXPECT_THAT(told_.all, IsEmpty());
}

}  // namespace
}  // namespace posthorn::sqlite
