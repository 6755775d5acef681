// Two nodes that send each other messages while the way between them does all that a way can do.
#include <algorithm>
#include <filesystem>
#include <list>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/text/base64.hpp"
#include "chaos/checks.hpp"
#include "chaos/party.hpp"
#include "chaos/road.hpp"
#include "support/eventually.hpp"
#include "support/proof_run.hpp"
#include "transport/grpc/grpc_server.hpp"

namespace posthorn::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t deliveries = 10'000;  // In `./test`.
constexpr std::uint64_t chunk_max = 2'000;    // Then all begins anew, so that nothing grows.
constexpr std::size_t worlds_max = 5;         // At once: most of the time each waits.
constexpr auto drains_within = 60s;           // One more, once the harm has ended.

canaries canaries_of(std::uint64_t seed) {
    const auto bytes = fmt::format("secret-canary-{:016x}-{:016x}", seed * 7919, seed);
    return {.payload = fmt::format("payload-canary-{:016x}", seed * 104'729),
            .secret = encode_base64(bytes),
            .bytes = bytes};
}

/// Two services and the roads between them.
///
/// Threads: one; other worlds may be there beside it, under other names.
class world {
public:
    world(const road_factory& make, std::uint64_t drawn_from, const std::string& name)
        : seed(drawn_from),
          secrets_(canaries_of(seed)),
          there_(
              make({"orders" + name, "stock" + name, seed * 2, folder_, counts, answered_there_})),
          back_(make(
              {"stock" + name, "orders" + name, seed * 2 + 1, folder_, counts, answered_back_})),
          orders_({"orders" + name, "stock" + name, seed * 2, folder_, secrets_, counts}),
          stock_({"stock" + name, "orders" + name, seed * 2 + 1, folder_, secrets_, counts}) {
        auto orders = orders_.options(back_->settings());
        auto stock = stock_.options(there_->settings());
        there_->reach(stock.options);
        there_->lay(orders.options);
        back_->reach(orders.options);
        back_->lay(stock.options);
        orders_.start(std::move(orders));
        stock_.start(std::move(stock));
        there_->open(stock_.at());
        back_->open(orders_.at());
    }

    /// What goes wrong is in `wrong`.
    void try_run(std::uint64_t size) noexcept {
        deliveries = size;
        try {
            run(size);
        } catch (const std::exception& thrown) {
            wrong.emplace_back(thrown.what());
        }
    }

    const std::uint64_t seed;
    std::uint64_t deliveries = 0;
    tally counts;
    std::vector<std::string> wrong;

private:
    /// False if for long nothing goes on. A busy machine may need longer for all.
    bool drain() {
        std::int64_t sent = -1, left = 1;
        const auto goes_on = [&] {
            const auto one = orders_.drain(), other = stock_.drain();
            left = one.left + other.left;
            return std::exchange(sent, one.sent + other.sent) < one.sent + other.sent || left == 0;
        };
        while (left > 0)
            if (!test::eventually(goes_on, drains_within, 20ms)) return false;
        return true;
    }

    void run(std::uint64_t size) {
        // Each message is answered by another.
        const auto messages = static_cast<std::int64_t>(size / 2);
        // Each sends one half, beside the other.
        std::jthread beside([&] { stock_.send(messages / 2); });
        orders_.send(messages - messages / 2);
        beside.join();
        there_->calm();
        back_->calm();
        if (!drain()) wrong.push_back("not drained in time");
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
    }

    test::temporary_directory folder_{test::folder_in_memory()};
    canaries secrets_;
    stamps answered_there_;
    stamps answered_back_;
    std::unique_ptr<road> there_;
    std::unique_ptr<road> back_;
    party orders_;
    party stock_;
};

using counted = std::map<std::string, std::uint64_t>;

/// The command for one chunk alone.
std::string again(const world& failed) {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    return fmt::format(
        "the same faults are drawn again, though threads run as they do, by\n"
        "POSTHORN_PROOF_SEED={} POSTHORN_PROOF_ROUNDS={} {} --gtest_filter={}.{}",
        failed.seed, failed.deliveries, std::filesystem::read_symlink("/proc/self/exe").string(),
        test->test_suite_name(), test->name());
}

/// Draws chunk after chunk from the seeds of a run, and gives what happened in all of them.
counted survive(const std::string& transport, const road_factory& make) {
    counted total;
    bool well = true;
    for (test::proof_run run("chaos-" + transport, {.rounds = deliveries});
         well && run.goes_on();) {
        std::list<world> worlds;
        std::vector<std::jthread> threads;
        std::uint64_t size = 0;
        for (auto left = std::max<std::uint64_t>(2, run.rounds() - run.done());
             left > 0 && worlds.size() < worlds_max;) {
            auto& made =
                worlds.emplace_back(make, run.seed() + size, std::to_string(worlds.size()));
            const auto chunk = std::clamp<std::uint64_t>(left, 2, chunk_max);
            threads.emplace_back([&made, chunk] { made.try_run(chunk); });
            size += chunk;
            left -= std::min(left, chunk);
        }
        threads.clear();
        for (const auto& each : worlds) {
            EXPECT_THAT(each.wrong, testing::IsEmpty()) << again(each);
            well = well && each.wrong.empty();
            for (const auto& [what, times] : each.counts.all()) {
                run.count(what, times);
                total[what] += times;
            }
        }
        run.count("deliveries", size);
        total["deliveries"] += size;
        run.advance(size);
    }
    for (const auto& [what, times] : total)
        testing::Test::RecordProperty(what, std::to_string(times));
    return total;
}

/// That enough happened for something to go wrong; a short run may be lucky.
void expect_chaos(counted total, const std::vector<std::string>& kinds) {
    if (total["deliveries"] < 5 * chunk_max) return;
    for (const auto& kind : kinds)
        EXPECT_GE(total[kind], total["deliveries"] / 5'000) << kind << " happened too seldom";
    for (const auto* const often : {"duplicates", "ACKs lost"})
        EXPECT_GE(total[often], total["deliveries"] / 500) << often << " happened too seldom";
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

TEST(chaos, loses_and_doubles_nothing_over_named_pipes) {
    const auto total = survive("pipe", pipe_road);
    expect_chaos(total, byte_kinds);
    expect_chaos(total, {"duplicated", "overtaken"});
}

TEST(chaos, loses_and_doubles_nothing_over_grpc) {
    if (!has_grpc()) GTEST_SKIP() << "built without gRPC";
    const auto total = survive("grpc", grpc_road);
    expect_chaos(total, byte_kinds);
}

TEST(chaos, loses_and_doubles_nothing_inside_a_process) {
    expect_chaos(survive("inprocess", inprocess_road),
                 {"delayed", "overtaken", "connections reset", "duplicated", "reversed",
                  "answers truncated", "handlers failed", "taken back"});
}

}  // namespace
}  // namespace posthorn::chaos
