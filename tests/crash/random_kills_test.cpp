#include <algorithm>
#include <charconv>
#include <chrono>
#include <random>
#include <sstream>

#include <gmock/gmock.h>

#include "crash/chain.hpp"
#include "crash/crash_fixture.hpp"

namespace {

using posthorn::crash::link_hash;

// The largest number that the worker said was committed; lines that the kill cut short do not
// count.
std::int64_t last_committed(std::string_view out) {
    std::int64_t last = 0;
    for (;;) {
        const auto end = out.find('\n');
        if (end == std::string_view::npos) return last;
        const auto line = out.substr(0, end);
        out.remove_prefix(end + 1);
        constexpr std::string_view begin = "committed ";
        if (!line.starts_with(begin)) continue;
        std::int64_t n = 0;
        std::from_chars(line.data() + begin.size(), line.data() + line.size(), n);
        last = std::max(last, n);
    }
}

TEST_F(crash, fifty_random_kills_lose_nothing_and_double_nothing) {
    constexpr auto seed = 20'240'611U;
    std::mt19937 dice(seed);
    std::uniform_int_distribution<int> moment_us(0, 60'000);
    const std::string where = directory.path();
    std::int64_t promised = 0;
    for (int round = 0; round < 50; ++round) {
        process load({POSTHORN_LOAD, where});
        await_line(load, "start");
        // Nothing ends it but us.
        const auto moment = std::chrono::milliseconds(moment_us(dice) / 1000);
        ASSERT_EQ(load.wait(moment), std::nullopt) << load.out() << load.err();
        kill(load);
        const auto said = last_committed(load.out());
        promised = std::max(promised, said);
        const auto there = open("source.db").integer("SELECT max(n) FROM chain");
        ASSERT_GE(there, promised) << "round " << round << " with seed " << seed;
    }
    const auto drained = posthorn::test::run_process({POSTHORN_LOAD, where, "drain"});
    EXPECT_EQ(drained.end, (posthorn::test::process_end{0, 0})) << drained.out << drained.err;

    auto source = open("source.db");
    auto target = open("target.db");
    const auto links = source.integer("SELECT max(n) FROM chain");
    EXPECT_GE(links, 100) << "the load hardly ran";
    std::string expected, before;
    for (std::int64_t n = 1; n <= links; ++n) {
        before = link_hash(n, before);
        expected += fmt::format("{} {}\n", n, before);
    }
    // Each link once, none missing, and each effect once.
    EXPECT_EQ(source.lines("SELECT n || ' ' || hash FROM chain ORDER BY n"), expected);
    EXPECT_EQ(target.lines("SELECT n || ' ' || hash FROM effects ORDER BY n"), expected);
    EXPECT_EQ(source.integer("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"), links);
    EXPECT_EQ(source.integer("SELECT count(*) FROM outbox_messages"), links);
    EXPECT_EQ(target.integer("SELECT count(*) FROM inbox_messages"), links);
    EXPECT_EQ(source.text("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(target.text("PRAGMA integrity_check"), "ok");
    RecordProperty("links", static_cast<int>(links));
}

}  // namespace
