// Events for a thousand endpoints on a machine whose power fails at any step of their fan-out and
// of their deliveries.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/disk_query.hpp"
#include "sim/network.hpp"
#include "sim/webhooks/subscribers.hpp"
#include "sim/world.hpp"
#include "webhook/subscription_table.hpp"
#include "webhook/webhook_feature.hpp"

namespace posthorn::sim {
namespace {

using namespace std::chrono_literals;

constexpr int endpoints = 1'000;

/// What the feature is set to: its own fallbacks, with pauses that fit into a world.
feature_settings webhook_settings() {
    std::map<std::string, feature_value, std::less<>> said;
    for (const auto& key : webhook_feature().keys()) said[std::string(key.name)] = key.fallback();
    said["retry_pauses"] = std::string("1s");
    return feature_settings(std::move(said));
}

/// One shop, its thousand subscribers, and what it was promised.
///
/// Lifetime: `stop()` before it is destroyed.
class shop_world {
public:
    explicit shop_world(std::uint64_t seed)
        : dice_(seed),
          net_(loop_, book_, dice_, {"shop"}),
          around_{loop_, book_, net_, dice_},
          strangers_(loop_.time(), dice_),
          way_(strangers_),
          shop_(around_, setup(seed)) {
        fault_disk::seed_sqlite(static_cast<std::uint32_t>(seed));
        loop_.watch([this] {
            shop_.reap();
            if (shop_.has_gone_down())
                shop_.cut_power();
            else
                shop_.bury_dead();
        });
    }

    void boot() {
        constexpr int tries = 100;
        for (int i = 0; i < tries && !shop_.boot(); ++i) loop_.run_for(1s);
        EXPECT_TRUE(shop_.is_whole());
        loop_.settle();
    }

    void subscribe_all() {
        run([](transaction& tx) {
            for (int i = 1; i <= endpoints; ++i)
                tx.execute(
                    "INSERT INTO webhook_subscriptions (id, url, secret, max_retries) VALUES"
                    " (?, ?, 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', 50)",
                    fmt::format("01900000-0000-7000-8000-{:012x}", i),
                    fmt::format("https://e{}.example/hook", i));
        });
        loop_.run_for(2s);
    }

    /// All of one entity, so that they have an order.
    void publish() {
        const auto id = std::make_shared<uuid>();
        run([id](transaction& tx) { *id = tx.publish("order.paid", "{}", {.entity = "7"}); },
            [this, id] { promised_.push_back(id->to_string()); });
    }

    /// The power fails after a few operations of the disk, or after a few moments.
    void crash() {
        shop_.disk().cut_after_operations(1 + dice_.below(800));
        loop_.run_until([this] { return shop_.running().empty(); },
                        std::chrono::milliseconds(1 + dice_.below(120)));
        if (!shop_.running().empty()) shop_.cut_power();
        shop_.disk().cut_after_operations(fault_disk::unlimited);
        loop_.run_for(500ms);
        boot();
    }

    /// Until nothing waits any more. Steps are counted, and no time.
    [[nodiscard]] bool comes_to_an_end() {
        constexpr int steps_max = 3'000;
        for (int step = 0; step < steps_max; ++step) {
            loop_.run_for(1s);
            if (shop_.pending() == 0) return true;
        }
        return false;
    }

    void stop() {
        const auto is_empty = [this] {
            shop_.reap();
            return shop_.is_empty();
        };
        shop_.stop();
        if (!loop_.run_until(is_empty, 1h)) {
            ADD_FAILURE() << "the node does not stop";
            shop_.kill();
            loop_.run_until(is_empty, 1h);
        }
        net_.cancel();
        loop_.settle();
    }

    /// On the disk, in the order of their commits.
    std::vector<std::string> events() {
        std::vector<std::string> found;
        ask("SELECT message_id FROM outbox_messages WHERE destination = 'webhooks' ORDER BY seq",
            [&](const plain_row& row) { found.push_back(row.text(0)); });
        return found;
    }
    void ask(const std::string& sql, const std::function<void(const plain_row&)>& visit) {
        query_disk(shop_.disk(), database_path, sql, visit);
    }

    [[nodiscard]] const std::vector<std::string>& promised() const { return promised_; }
    [[nodiscard]] const subscribers& strangers() const { return strangers_; }
    [[nodiscard]] std::uint64_t cuts() const { return shop_.cuts(); }
    [[nodiscard]] const std::vector<std::string>& violations() const { return book_.violations(); }

private:
    machine::setup setup(std::uint64_t seed) {
        machine::setup made{.service = "shop",
                            .seed = seed,
                            .options = brisk_options(),
                            .ready = [this](process& one) { way_.belongs_to(one); }};
        made.options.database.above.push_back(webhook_tables());
        made.options.features.push_back({.what = &way_, .settings = feature_settings{}});
        made.options.features.push_back(
            {.what = &webhook_feature(), .settings = webhook_settings()});
        return made;
    }

    /// `then` if the client was told that it is on disk.
    void run(std::function<void(transaction&)> work, std::function<void()> then = {}) {
        auto* const at = shop_.pick(dice_, false);
        ASSERT_NE(at, nullptr);
        at->core().submit_then(std::move(work),
                               [at, then = std::move(then)](const std::exception_ptr& failure) {
                                   if (!failure && !at->is_dead() && then) then();
                               });
    }

    world_loop loop_;
    ledger book_{loop_.time()};
    seeded_random dice_;
    network net_;
    surroundings around_;
    subscribers strangers_;
    way_to_subscribers way_;
    machine shop_;
    std::vector<std::string> promised_;
};

/// One child for each subscription, and each of them delivered.
void check_deliveries(shop_world& world, const std::vector<std::string>& events) {
    std::map<std::string, std::int64_t> complete;
    world.ask(
        "SELECT parent_id, count(*), count(DISTINCT destination), sum(status = 'Sent')"
        " FROM outbox_messages WHERE destination LIKE 'webhook:%' GROUP BY parent_id",
        [&](const plain_row& row) {
            for (const int column : {1, 2, 3})
                EXPECT_EQ(row.number(column), endpoints) << row.text(0) << ", " << column;
            complete[row.text(0)] = row.number(3);
        });
    EXPECT_EQ(complete.size(), events.size());
    for (const auto& each : events) EXPECT_TRUE(complete.contains(each)) << each;
}

/// Every endpoint has taken every event, none that is not there, and each first in their order.
void check_subscribers(const shop_world& world, const std::vector<std::string>& events) {
    const auto& all = world.strangers().all();
    EXPECT_EQ(all.size(), static_cast<std::size_t>(endpoints));
    const auto wrong =
        std::ranges::count_if(all, [&](const auto& one) { return one.second.order != events; });
    EXPECT_EQ(wrong, 0);
    for (const auto& [id, heard] : all)
        for (const auto& [event, times] : heard.times)
            EXPECT_LE(times, 1 + static_cast<int>(world.cuts())) << id.to_string();
}

TEST(sim_of_webhooks, power_cuts_lose_no_delivery_to_a_thousand_endpoints_and_make_none_twice) {
    for (const std::uint64_t seed : {1U, 2U}) {
        SCOPED_TRACE(seed);
        shop_world world(seed);
        world.boot();
        world.subscribe_all();
        for (int event = 0; event < 2; ++event) {
            world.publish();
            world.crash();  // At some step of the fan-out,
            world.crash();  // and of what follows it.
        }
        EXPECT_TRUE(world.comes_to_an_end());
        world.stop();
        for (const auto& wrong : world.violations()) ADD_FAILURE() << wrong;
        EXPECT_GE(world.cuts(), 4U);
        const auto events = world.events();
        for (const auto& each : world.promised())
            EXPECT_NE(std::ranges::find(events, each), events.end()) << "lost: " << each;
        EXPECT_FALSE(events.empty());
        check_deliveries(world, events);
        check_subscribers(world, events);
        EXPECT_GE(world.strangers().requests(), events.size() * endpoints);
    }
}

}  // namespace
}  // namespace posthorn::sim
