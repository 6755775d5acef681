// Two nodes that send each other messages while the way between them does all that a way can do.
#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/base64.hpp"
#include "chaos/checks.hpp"
#include "chaos/party.hpp"
#include "chaos/road.hpp"
#include "support/eventually.hpp"
#include "support/proof_run.hpp"

namespace posthorn::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t deliveries = 10'000;  // In `./test`.
constexpr std::uint64_t chunk_max = 2'000;    // Then all begins anew, so that nothing grows.
constexpr auto drains_within = 45s;           // Once the harm has ended.

canaries canaries_of(std::uint64_t seed) {
    const auto bytes = fmt::format("secret-canary-{:016x}-{:016x}", seed * 7919, seed);
    return {.payload = fmt::format("payload-canary-{:016x}", seed * 104'729),
            .secret = encode_base64(bytes),
            .bytes = bytes};
}

/// Two services and the roads between them.
class world {
public:
    world(const road_factory& make, std::uint64_t seed)
        : secrets_(canaries_of(seed)),
          there_(make({"orders", "stock", seed * 2, folder_, counts, answered_there_})),
          back_(make({"stock", "orders", seed * 2 + 1, folder_, counts, answered_back_})),
          orders_({"orders", "stock", seed * 2, folder_, secrets_, counts}),
          stock_({"stock", "orders", seed * 2 + 1, folder_, secrets_, counts}) {
        auto orders = orders_.options();
        auto stock = stock_.options();
        there_->reach(stock);
        there_->lay(orders);
        back_->reach(orders);
        back_->lay(stock);
        orders_.start(std::move(orders));
        stock_.start(std::move(stock));
        there_->open(stock_.at());
        back_->open(orders_.at());
    }

    /// Everything that was wrong.
    std::vector<std::string> run(std::int64_t messages) {
        // Each sends one half, beside the other.
        std::jthread beside([&] { stock_.send(messages / 2); });
        orders_.send(messages - messages / 2);
        beside.join();
        there_->calm();
        back_->calm();
        const bool drained = test::eventually(
            [&] {
                const bool one = orders_.is_drained();
                return stock_.is_drained() && one;
            },
            drains_within, 20ms);
        std::vector<std::string> wrong;
        if (!drained) wrong.push_back("not drained in time");
        for (auto* const each : {&orders_, &stock_}) {
            counts.add("duplicates", static_cast<std::uint64_t>(each->at().stats().duplicates));
            if (const auto said = each->metrics(); said.empty() || secrets_.is_in(said))
                wrong.push_back(each->service() + ": no metrics, or a canary in them");
            each->stop();
        }
        const auto note = [&](const std::vector<std::string>& found) {
            wrong.insert(wrong.end(), found.begin(), found.end());
        };
        note(check_way(orders_, stock_, answered_there_));
        note(check_way(stock_, orders_, answered_back_));
        for (const auto* const each : {&orders_, &stock_}) {
            note(check_store(*each, secrets_));
            note(each->complaints());
        }
        return wrong;
    }

    tally counts;

private:
    test::temporary_directory folder_;
    canaries secrets_;
    stamps answered_there_;
    stamps answered_back_;
    std::unique_ptr<road> there_;
    std::unique_ptr<road> back_;
    party orders_;
    party stock_;
};

using counted = std::map<std::string, std::uint64_t>;

/// Draws chunk after chunk from the seeds of a run, and gives what happened in all of them.
counted survive(const std::string& transport, const road_factory& make) {
    counted total;
    for (test::proof_run run("chaos-" + transport, {.rounds = deliveries}); run.goes_on();) {
        const auto left = run.rounds() - std::min(run.done(), run.rounds());
        const auto size = std::clamp<std::uint64_t>(left, 2, chunk_max);
        world between(make, run.seed());
        // Each message is answered by another.
        const auto wrong = between.run(static_cast<std::int64_t>(size / 2));
        EXPECT_THAT(wrong, testing::IsEmpty())
            << "the same faults are drawn again, but threads run as they do, by: "
            << fmt::format(
                   "POSTHORN_PROOF_SEED={} POSTHORN_PROOF_ROUNDS={} {} --gtest_filter={}.{}",
                   run.seed(), size, std::filesystem::read_symlink("/proc/self/exe").string(),
                   testing::UnitTest::GetInstance()->current_test_suite()->name(),
                   testing::UnitTest::GetInstance()->current_test_info()->name());
        run.count("deliveries", size);
        total["deliveries"] += size;
        for (const auto& [what, times] : between.counts.all()) {
            run.count(what, times);
            total[what] += times;
        }
        run.advance(size);
        if (!wrong.empty()) break;
    }
    for (const auto& [what, times] : total)
        testing::Test::RecordProperty(what, std::to_string(times));
    return total;
}

/// That enough happened for something to go wrong; a short run may be lucky.
void expect_chaos(counted total, const std::vector<std::string>& kinds) {
    if (total["deliveries"] < 5 * chunk_max) return;
    for (const auto& kind : kinds)
        EXPECT_GE(total[kind], total["deliveries"] / 2'000) << kind << " happened too seldom";
    for (const auto* const often : {"duplicates", "ACKs lost"})
        EXPECT_GE(total[often], total["deliveries"] / 200) << often << " happened too seldom";
}

const std::vector<std::string> byte_kinds = {
    "delayed",         "dribbled",           "bytes corrupted",   "bytes dropped",
    "half closed",     "requests truncated", "answers truncated", "connections reset",
    "handlers failed", "taken back"};

TEST(chaos, loses_and_doubles_nothing_over_http) {
    const auto total = survive("http", http_road);
    expect_chaos(total, byte_kinds);
    expect_chaos(total, {"duplicated", "overtaken"});
}

TEST(chaos, loses_and_doubles_nothing_over_https) {
    const auto total = survive("https", https_road);
    expect_chaos(total, byte_kinds);
    expect_chaos(total, {"replayed"});
}

TEST(chaos, loses_and_doubles_nothing_over_unix_sockets) {
    const auto total = survive("unix", unix_road);
    expect_chaos(total, byte_kinds);
    expect_chaos(total, {"duplicated", "overtaken"});
}

TEST(chaos, loses_and_doubles_nothing_inside_a_process) {
    expect_chaos(survive("inprocess", inprocess_road),
                 {"delayed", "overtaken", "connections reset", "duplicated", "reversed",
                  "answers truncated", "handlers failed", "taken back"});
}

}  // namespace
}  // namespace posthorn::chaos
