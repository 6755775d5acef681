#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "support/process.hpp"
#include "support/proof_run.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

constexpr int orders = 60;
constexpr std::chrono::minutes patience{5};  // A busy disk is slow.

/// Kills the shop after so many of its lines; whether it came to its end before.
bool run_until(const std::string& directory, std::size_t lines) {
    test::process shop({POSTHORN_SHOP, directory, std::to_string(orders)});
    for (;;) {
        const auto line = shop.read_line(patience);
        if (!line) {
            ADD_FAILURE() << "the shop ended: " << shop.err();
            return true;
        }
        if (*line == "done") return shop.wait(patience) == test::process_end{0, 0};
        if (lines-- != 0) continue;
        shop.send_signal(SIGKILL);
        EXPECT_TRUE(shop.wait());
        return false;
    }
}

void expect_each_effect_once(const test::temporary_directory& directory) {
    test::sqlite_file shop(directory.file("shop.db"));
    test::sqlite_file stock(directory.file("stock.db"));
    test::sqlite_file billing(directory.file("billing.db"));
    const auto count = [](test::sqlite_file& in, const std::string& what) {
        return in.integer("SELECT count(*) FROM " + what);
    };
    // Of 60: 20 are refused, and 8 of the others cannot be paid.
    EXPECT_EQ(count(shop, "workflow_instances WHERE status = 'completed'"), 32);
    EXPECT_EQ(count(shop, "workflow_instances WHERE status = 'failed'"), 28);
    EXPECT_EQ(count(shop, "shipped"), 32);
    EXPECT_EQ(count(stock, "done WHERE what = 'reserve'"), 60);
    EXPECT_EQ(count(stock, "(SELECT DISTINCT id FROM done WHERE what = 'reserve')"), 60);
    EXPECT_EQ(count(stock, "done WHERE what = 'release'"), 28);
    EXPECT_EQ(count(stock, "(SELECT DISTINCT id FROM done WHERE what = 'release')"), 28);
    EXPECT_EQ(count(billing, "done"), 32);
    EXPECT_EQ(count(billing, "(SELECT DISTINCT id FROM done)"), 32);
    for (const auto* table : {"mailbox", "waits", "timers", "calls", "runs", "unclaimed"})
        EXPECT_EQ(count(shop, std::string("workflow_") + table), 0) << table;
    // Steps are numbered without a gap.
    EXPECT_EQ(count(shop,
                    "(SELECT instance FROM workflow_history GROUP BY instance"
                    " HAVING max(step) <> count(*))"),
              0);
}

// A round is a kill.
TEST(workflow_kill, loses_no_step_and_repeats_no_effect) {
    test::proof_run run("kill, workflows", {.rounds = 50, .first_seed = 7});
    seeded_random chance(run.seed());
    while (run.goes_on() && !HasFailure()) {
        const test::temporary_directory directory;
        bool has_ended = false;
        while (run.goes_on() && !has_ended) {
            has_ended = run_until(directory.path(), chance.below(8));
            if (!has_ended) run.advance();
        }
        if (!has_ended) has_ended = run_until(directory.path(), SIZE_MAX);
        EXPECT_TRUE(has_ended);
        expect_each_effect_once(directory);
        run.count("workflows", orders);
    }
}

TEST(workflow_kill, counts_each_step_once_where_two_engines_work_on_one_file) {
    const test::temporary_directory directory;
    const std::vector<std::string> words{POSTHORN_SHOP, directory.path(), std::to_string(orders)};
    test::process first(words);
    test::process second(words);
    EXPECT_EQ(first.wait(patience), (test::process_end{0, 0})) << first.err();
    EXPECT_EQ(second.wait(patience), (test::process_end{0, 0})) << second.err();
    expect_each_effect_once(directory);
}

}  // namespace
}  // namespace posthorn
