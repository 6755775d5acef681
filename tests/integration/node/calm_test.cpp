// Destinations that are dead, slow or stumble over a message, beside one that is well.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include <gmock/gmock.h>

#include "base/time/clock.hpp"
#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/raw_http.hpp"

namespace posthorn::integration {
namespace {

using std::chrono::milliseconds;

constexpr auto key_text = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A port of this machine at which nobody listens.
std::uint16_t dead_port() { return test::raw_listener().port(); }

/// Waits for as long as it is told, or until the test is over.
class patience {
public:
    ~patience() { end(); }
    void wait(milliseconds time) {
        std::unique_lock lock(mutex_);
        over_.wait_for(lock, time, [this] { return ended_; });
    }
    void end() {
        const std::scoped_lock lock(mutex_);
        ended_ = true;
        over_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable over_;
    bool ended_ = false;
};

/// A service that is told how it fares, over HTTP.
class node_calm : public node_test {
protected:
    node_calm() {
        auto options = outside("well");
        options.listen.http = "127.0.0.1:0";
        well.emplace(options);
        well->handle("Ping", [this](context&, const message& m) {
            if (m.payload == R"("poison")") throw std::runtime_error("cannot read this");
            const std::scoped_lock lock(mutex_);
            arrived_.push_back(m.payload);
            arrivals_.notify_all();
        });
        well->start();
    }

    [[nodiscard]] node_options outside(const std::string& service) const {
        auto made = options(service);
        made.default_route.clear();
        for (const auto* peer : {"orders", "well", "slow", "dead", "silent"})
            if (peer != service) made.secrets[peer] = {key_text};
        return made;
    }
    [[nodiscard]] node_options sender() const {
        auto made = outside("orders");
        made.routes["well"] = well->addresses()[0];
        return made;
    }
    /// Whether `number` messages have come in.
    bool has_arrived(std::size_t number) {
        std::unique_lock lock(mutex_);
        return arrivals_.wait_for(lock, std::chrono::seconds(30),
                                  [&] { return arrived_.size() >= number; });
    }
    /// How long each of some messages took from its commit to its handler, in order.
    std::vector<std::chrono::nanoseconds> time_messages(node& from, int number) {
        std::vector<std::chrono::nanoseconds> times;
        for (int i = 0; i < number; ++i) {
            const auto known = [&] {
                const std::scoped_lock lock(mutex_);
                return arrived_.size();
            }();
            const auto begun = clock_.steady();
            from.send("well", "Ping", std::to_string(i));
            if (!has_arrived(known + 1)) ADD_FAILURE() << "message " << i << " did not arrive";
            times.push_back(clock_.steady() - begun);
        }
        std::ranges::sort(times);
        return times;
    }
    static std::chrono::nanoseconds p99(const std::vector<std::chrono::nanoseconds>& sorted) {
        return sorted.at(sorted.size() * 99 / 100);
    }

    real_clock clock_;
    std::mutex mutex_;
    std::condition_variable arrivals_;
    std::vector<std::string> arrived_;
    std::optional<node> well;
};

TEST_F(node_calm, a_dead_destination_burns_no_attempts_and_gets_everything_when_it_is_back) {
    auto options = sender();
    const auto port = dead_port();
    options.routes["dead"] = "http://127.0.0.1:" + std::to_string(port);
    options.lanes["dead"] = {.window = 2, .batch = 10};
    // So that an attempt that counts would be the end of a message.
    options.retry = {.retries_max = 0,
                     .backoff = exponential_backoff{.base = std::chrono::seconds(2),
                                                    .max = std::chrono::seconds(2)}};
    node orders(options);
    orders.start();
    orders.transact([](transaction& tx) {
        for (int i = 0; i < 100; ++i) tx.send("dead", "Ping", "1");
    });
    ASSERT_TRUE(test::eventually(
        [&] { return integer(orders, "SELECT count(*) > 0 FROM outbox_attempts") == 1; }));
    EXPECT_EQ(integer(orders, "SELECT sum(retry_count) FROM outbox_messages"), 0);
    orders.send("well", "Ping", "1");
    EXPECT_TRUE(has_arrived(1));

    auto options_back = outside("dead");
    options_back.listen.http = "127.0.0.1:" + std::to_string(port);
    node back(options_back);
    back.handle("Ping", [](context&, const message&) {});
    back.start();
    EXPECT_TRUE(test::eventually([&] { return orders.stats().sent == 101; }));
    EXPECT_EQ(orders.stats().dead, 0);
}

TEST_F(node_calm, a_message_that_is_poison_holds_up_nobody_and_ends_as_a_dead_letter) {
    node orders(sender());
    orders.start();
    orders.transact([](transaction& tx) {
        tx.send("well", "Ping", R"("poison")");
        for (int i = 0; i < 200; ++i) tx.send("well", "Ping", "1");
    });
    EXPECT_TRUE(has_arrived(200));
    EXPECT_TRUE(test::eventually([&] { return orders.stats().dead == 1; }));
    EXPECT_EQ(integer(orders, "SELECT retry_count FROM outbox_messages WHERE status = 'Dead'"), 6);
    EXPECT_EQ(orders.stats().sent, 200);
}

TEST_F(node_calm, a_paused_destination_gets_nothing_until_it_is_resumed) {
    node orders(sender());
    orders.start();
    EXPECT_TRUE(orders.pause("well", "stocktaking"));
    EXPECT_FALSE(orders.pause("well", "again"));
    EXPECT_EQ(text(orders, "SELECT reason FROM outbox_paused"), "stocktaking");
    // The pause is known once the look it asked for has passed; a message to nobody shows that.
    orders.send("nowhere", "Ping", "1");
    ASSERT_TRUE(test::eventually([&] {
        return integer(orders,
                       "SELECT count(*) FROM outbox_messages WHERE destination = 'nowhere'"
                       " AND last_error IS NOT NULL") == 1;
    }));
    orders.send("well", "Ping", "1");
    orders.send("nowhere", "Ping", "1");
    ASSERT_TRUE(test::eventually([&] { return orders.stats().pending == 3; }));
    EXPECT_EQ(orders.stats().sent, 0);
    EXPECT_TRUE(orders.resume("well"));
    EXPECT_TRUE(has_arrived(1));
    EXPECT_FALSE(orders.resume("well"));
}

TEST_F(node_calm, dead_slow_and_silent_destinations_cost_one_that_is_well_nothing) {
    patience forever;
    auto slow_options = outside("slow");
    slow_options.listen.http = "127.0.0.1:0";
    node slow(slow_options);
    slow.handle_external("Ping", [&](const message&) { forever.wait(milliseconds(200)); });
    slow.start();
    test::raw_listener silent;  // Takes connections, and says nothing.

    const auto measure = [&](bool troubled) {
        auto options = sender();
        options.store.database = path(troubled ? "troubled" : "calm");
        options.routes["slow"] = slow.addresses()[0];
        options.routes["dead"] = "http://127.0.0.1:" + std::to_string(dead_port());
        options.routes["silent"] = "http://127.0.0.1:" + std::to_string(silent.port());
        node orders(options);
        orders.start();
        time_messages(orders, 10);  // So that everything is open and warm.
        if (troubled)
            orders.transact([](transaction& tx) {
                for (int i = 0; i < 500; ++i)
                    for (const auto* to : {"slow", "dead", "silent"}) tx.send(to, "Ping", "1");
            });
        return p99(time_messages(orders, 200));
    };

    // Another process may have the machine for a moment, so the best of a few tries counts.
    const auto begun = clock_.steady();
    double best = 1e9;
    while (best > 2 && clock_.steady() - begun < std::chrono::seconds(40)) {
        const auto calm = measure(false);
        const auto troubled = measure(true);
        best = std::min(best, static_cast<double>(troubled.count()) /
                                  static_cast<double>((calm + milliseconds(5)).count()));
    }
    RecordProperty("ratio", std::to_string(best));
    EXPECT_LE(best, 2) << "the 99th percentile beside troubled destinations, against without";
    forever.end();
}

}  // namespace
}  // namespace posthorn::integration
