// Several processes of one service on a PostgreSQL server tell subscribers of its events.
#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include "integration/instance.hpp"
#include "support/eventually.hpp"
#include "support/raw_http.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;

/// A subscriber's endpoint, which counts how often it is told of each event.
class endpoint {
public:
    ~endpoint() {
        ends_ = true;
        test::raw_http(listener_.port()).send("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
        thread_.join();
    }

    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(listener_.port()) + "/hook";
    }
    [[nodiscard]] std::map<std::string, int> seen() {
        const std::scoped_lock lock(mutex_);
        return seen_;
    }

private:
    void run() {
        while (!ends_) {
            try {  // That callers go away, or are long in coming, is their right.
                const auto caller = listener_.accept();
                note(caller->receive().head);
                caller->send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
            } catch (const std::runtime_error&) {
            }
        }
    }
    void note(const std::string& head) {
        const std::string name = "webhook-id: ";
        const auto at = head.find(name);
        if (at == std::string::npos) return;
        const std::scoped_lock lock(mutex_);
        ++seen_[head.substr(at + name.size(), 36)];
    }

    test::raw_listener listener_;
    std::atomic<bool> ends_ = false;
    std::mutex mutex_;
    std::map<std::string, int> seen_;
    std::thread thread_{[this] { run(); }};
};

class webhooks_on_postgres : public testing::Test {
protected:
    webhooks_on_postgres() {
        shop_.rest =
            std::string(no_listeners) + "[webhooks]\nplain_http = true\nallow = \"127.0.0.1\"\n";
        shop_.prepare(folder_.file("shop.toml"));
    }
    void subscribe(const std::string& to) {
        const auto added =
            test::run_process({POSTHORN_PROGRAM, "webhooks", "add", "--to", to, "--type", "order.*",
                               "--config", folder_.file("shop.toml")});
        ASSERT_EQ(added.end, exit_0) << added.err;
    }
    void publish(int events) {
        const auto wrong = test::postgres_client(place_.url())
                               .run(
                                   "INSERT INTO outbox_messages (destination, endpoint, payload)"
                                   " SELECT 'webhooks', 'order.paid', '{}' FROM"
                                   " generate_series(1, " +
                                   std::to_string(events) + ")");
        ASSERT_EQ(wrong, std::nullopt);
    }
    [[nodiscard]] bool is_drained() const {
        return test::eventually([&] {
            return shop_.number("SELECT count(*) FROM outbox_messages WHERE status = 'Pending'") ==
                   0;
        });
    }

    test::temporary_directory folder_;
    test::postgres_place place_;
    service_on_server shop_{.id = "shop", .place = &place_, .parts = "outbox"};
};

TEST_F(webhooks_on_postgres, four_processes_share_the_work_and_tell_nobody_twice) {
    constexpr int events = 200;
    endpoint first, second;
    subscribe(first.url());
    subscribe(second.url());
    std::vector<std::unique_ptr<instance>> all;
    while (all.size() < 4) all.push_back(std::make_unique<instance>(folder_.file("shop.toml")));
    ASSERT_TRUE(test::eventually([&] { return shop_.seats() == 4; }));
    publish(events);
    ASSERT_TRUE(test::eventually([&] {
        return shop_.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") ==
               3 * events;
    }));
    for (auto* each : {&first, &second}) {
        const auto seen = each->seen();
        EXPECT_EQ(seen.size(), events);
        for (const auto& [event, times] : seen) EXPECT_EQ(times, 1) << event;
    }
    for (auto& each : all) each->stop();
}

TEST_F(webhooks_on_postgres, kills_lose_no_delivery_and_make_none_twice) {
    constexpr int events = 300;
    endpoint only;
    for (int i = 0; i < 3; ++i) subscribe(only.url());
    auto one = std::make_unique<instance>(folder_.file("shop.toml"));
    auto other = std::make_unique<instance>(folder_.file("shop.toml"));
    publish(events);
    for (int round = 1; round <= 3; ++round) {
        ASSERT_TRUE(test::eventually([&] {
            return shop_.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") >=
                   round * 200;
        }));
        one->child().send_signal(SIGKILL);
        one = std::exchange(other, std::make_unique<instance>(folder_.file("shop.toml")));
    }
    ASSERT_TRUE(is_drained());
    EXPECT_EQ(shop_.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"),
              4 * events);
    EXPECT_EQ(shop_.number("SELECT count(*) FROM (SELECT DISTINCT parent_id, destination FROM"
                           " outbox_messages WHERE parent_id IS NOT NULL) AS each_one"),
              3 * events);
    EXPECT_EQ(only.seen().size(), events);
    for (const auto& [event, times] : only.seen()) EXPECT_GE(times, 3) << event;
    one->stop();
    other->stop();
}

}  // namespace
}  // namespace posthorn::integration
