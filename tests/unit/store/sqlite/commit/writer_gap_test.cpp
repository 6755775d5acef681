// How long the writer of a shared file leaves the lock to others.
#include <deque>

#include <gtest/gtest.h>

#include "base/async/executor.hpp"
#include "base/async/virtual_time.hpp"
#include "base/log/log.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "unit/store/sqlite/files.hpp"

namespace posthorn::sqlite {
namespace {

using namespace std::chrono_literals;

/// Runs jobs inside `post`, and remembers the pauses that were asked for.
class resting_executor final : public executor {
public:
    void post(job work) override { jobs_.post(std::move(work)); }
    void rest(std::chrono::nanoseconds time) override { rests.push_back(time); }

    std::vector<std::chrono::nanoseconds> rests;

private:
    inline_executor jobs_;
};

class writer_gap : public on_a_file {
protected:
    /// The pause after a unit that takes so long, with another one waiting.
    std::chrono::nanoseconds after(std::chrono::nanoseconds taken) {
        auto opened = open({.path = path_, .service = "orders", .shared = true},
                           {.time = time_, .writer = writer_, .log = log_});
        EXPECT_TRUE(opened) << opened.error().what();
        auto& file = **opened;
        writer_.rests.clear();
        file.submit({.work = [&](store_transaction&) -> result<> {
                         time_.advance(taken);
                         return {};
                     },
                     .done =
                         [&](const result<>&) {
                             file.submit(
                                 {.work = [](store_transaction&) -> result<> { return {}; }});
                         }});
        file.stop();
        EXPECT_EQ(writer_.rests.size(), 1U);
        return writer_.rests.empty() ? 0ns : writer_.rests.front();
    }

    virtual_time time_;
    resting_executor writer_;
    logger log_ = logger::null();
};

TEST_F(writer_gap, is_as_long_as_the_lock_was_held) { EXPECT_EQ(after(3ms), 3ms); }
TEST_F(writer_gap, is_never_too_short_to_be_seen) { EXPECT_EQ(after(1us), 200us); }
TEST_F(writer_gap, after_a_slow_unit_stays_short) { EXPECT_EQ(after(5s), 20ms); }

}  // namespace
}  // namespace posthorn::sqlite
