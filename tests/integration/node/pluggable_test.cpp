// What an application brings itself: retry policy, serializer, clock, parts, a store in memory.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <stdexcept>

#include <gmock/gmock.h>

#include <posthorn/proxy.hpp>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace pluggable {

struct stock_counted {
    std::string item;
    std::int64_t count = 0;
};
POSTHORN_SIGNAL(stock_counted, "StockCounted", item, count)

struct recount {
    std::string item;
};
POSTHORN_COMMAND(recount, "Recount", std::int64_t, item)

using stock = posthorn::service<"stock", 1, stock_counted>;

}  // namespace pluggable

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using pluggable::recount;
using pluggable::stock_counted;
using test::eventually;
using testing::HasSubstr;

/// JSON back to front, so that whoever reads it without the serializer fails.
class backwards final : public serializer {
public:
    [[nodiscard]] std::string_view content_type() const override { return "text/backwards"; }
    [[nodiscard]] std::string from_json(std::string_view json) const override {
        if (json.find("unspeakable") != std::string_view::npos)
            throw std::runtime_error("cannot say that");
        return turned(json);
    }
    [[nodiscard]] std::string to_json(std::string_view payload) const override {
        return turned(payload);
    }

private:
    static std::string turned(std::string_view text) { return {text.rbegin(), text.rend()}; }
};

class node_pluggable : public node_test {
protected:
    static std::string last(node& on, const std::string& column) {
        return text(on, "SELECT " + column + " FROM outbox_messages ORDER BY seq DESC LIMIT 1");
    }
    static bool becomes(node& on, const std::string& status) {
        return eventually([&] { return last(on, "status") == status; });
    }
    [[nodiscard]] node_options with_serializer(const std::string& service) const {
        auto made = options(service);
        made.serializer = std::make_shared<backwards>();
        return made;
    }
};

TEST_F(node_pluggable, a_retry_policy_is_asked_with_attempts_and_error_and_may_give_up) {
    std::mutex mutex;
    std::vector<std::string> asked;
    auto with_policy = options("orders");
    with_policy.retry.backoff = [&](std::int32_t attempts, std::string_view why) {
        const std::scoped_lock lock(mutex);
        asked.push_back(std::to_string(attempts) + " " + std::string(why));
        return attempts < 3 ? std::optional(1ms) : std::nullopt;
    };
    node orders(with_policy);
    node inventory(options("inventory"));
    inventory.handle("Count", [](context&, const message&) { throw std::runtime_error("no"); });
    inventory.start();
    orders.start();
    orders.send("inventory", "Count", "{}");
    EXPECT_TRUE(becomes(orders, "Dead"));
    EXPECT_EQ(last(orders, "retry_count"), "3");
    const std::scoped_lock lock(mutex);
    ASSERT_EQ(asked.size(), 3U);
    EXPECT_THAT(asked[0], HasSubstr("1 no"));
    EXPECT_THAT(asked[2], HasSubstr("3 no"));
}

TEST_F(node_pluggable, a_retry_policy_that_throws_is_logged_and_half_a_minute_is_waited) {
    std::mutex mutex;
    std::string log;
    auto with_policy = options("orders");
    with_policy.retry.backoff = [](std::int32_t,
                                   std::string_view) -> std::optional<std::chrono::milliseconds> {
        throw std::runtime_error("out of ideas");
    };
    with_policy.log_sink = [&](std::string_view line) {
        const std::scoped_lock lock(mutex);
        log += line;
    };
    node orders(with_policy);
    node inventory(options("inventory"));
    inventory.handle("Count", [](context&, const message&) { throw std::runtime_error("no"); });
    inventory.start();
    orders.start();
    orders.send("inventory", "Count", "{}");
    EXPECT_TRUE(eventually([&] { return last(orders, "retry_count") == "1"; }));
    EXPECT_EQ(last(orders, "status"), "Pending");
    EXPECT_EQ(last(orders, "next_retry_at - last_attempt_at"), "30000");
    const std::scoped_lock lock(mutex);
    EXPECT_THAT(log, HasSubstr("out of ideas"));
}

TEST_F(node_pluggable, pauses_are_all_the_same_if_they_are_to_be_fixed) {
    auto fixed = options("orders");
    fixed.retry.backoff = fixed_backoff{77s};
    node orders(fixed);
    node inventory(options("inventory"));
    inventory.handle("Count", [](context&, const message&) { throw std::runtime_error("no"); });
    inventory.start();
    orders.start();
    orders.send("inventory", "Count", "{}");
    EXPECT_TRUE(eventually([&] { return last(orders, "retry_count") == "1"; }));
    EXPECT_EQ(last(orders, "next_retry_at - last_attempt_at"), "77000");
}

TEST_F(node_pluggable, a_serializer_writes_and_reads_described_messages) {
    node orders(with_serializer("orders"));
    node inventory(with_serializer("inventory"));
    std::atomic<std::int64_t> counted = 0;
    inventory.handle<stock_counted>(
        [&](context&, const stock_counted& m) { counted += m.item == "nails" ? m.count : 0; });
    offer<pluggable::stock> offered(inventory);
    offered.handle<stock_counted>(
        [&](context&, const stock_counted& m) { counted += 100 * m.count; });
    inventory.start();
    orders.start();
    orders.send("inventory", stock_counted{"nails", 7});
    EXPECT_TRUE(eventually([&] { return counted == 7; }));
    EXPECT_EQ(last(orders, "content_type"), "text/backwards");
    EXPECT_EQ(last(orders, "payload"), R"(}7:"tnuoc","slian":"meti"{)");
    orders.transact([](transaction& tx) {
        tx.send("inventory", "stock/v1/StockCounted", R"({"item":"x","count":1})");
    });
    EXPECT_TRUE(eventually([&] { return counted == 107; }));  // JSON is understood too.
    EXPECT_EQ(last(orders, "content_type"), "application/json");
}

TEST_F(node_pluggable, a_serializer_leaves_raw_payloads_and_responses_alone) {
    node orders(with_serializer("orders"));
    node inventory(with_serializer("inventory"));
    std::string raw;
    inventory.handle("Raw", [&](context&, const message& m) { raw = m.payload; });
    inventory.handle<recount>([](context&, const recount&) { return std::int64_t{12}; });
    inventory.start();
    orders.start();
    orders.send("inventory", "Raw", R"({"a":1})");
    EXPECT_TRUE(becomes(orders, "Sent"));
    EXPECT_EQ(raw, R"({"a":1})");
    EXPECT_EQ(orders.call("inventory", recount{"nails"}).get(), 12);
}

TEST_F(node_pluggable, a_serializer_leaves_alone_what_is_said_to_be_json) {
    node orders(with_serializer("orders"));
    orders.send("inventory", stock_counted{"nails", 1}, {.content_type = "application/json"});
    EXPECT_EQ(last(orders, "content_type"), "application/json");
    EXPECT_EQ(last(orders, "payload").front(), '{');
    orders.send("inventory", "StockCounted", "{}");
    EXPECT_EQ(last(orders, "content_type"), "application/json");
}

TEST_F(node_pluggable, a_serializer_that_refuses_stops_the_message_before_it_is_stored) {
    node orders(with_serializer("orders"));
    EXPECT_EQ(code_of([&] { orders.send("inventory", stock_counted{"unspeakable", 1}); }),
              error_code::invalid_payload);
    EXPECT_EQ(orders.stats().pending, 0);
}

TEST_F(node_pluggable, a_payload_that_the_serializer_cannot_read_is_dead_at_its_sender) {
    node orders(options("orders"));
    node inventory(with_serializer("inventory"));
    inventory.handle<stock_counted>([](context&, const stock_counted&) {});
    inventory.start();
    orders.start();
    orders.send("inventory", "StockCounted", "{no json", {.content_type = "text/backwards"});
    EXPECT_TRUE(becomes(orders, "Dead"));
    EXPECT_EQ(last(orders, "retry_count"), "1");
}

TEST_F(node_pluggable, a_clock_of_the_application_makes_messages_old) {
    constexpr wall_time noon{1'900'000'000'000ms};
    std::atomic<std::int64_t> hours = 0;
    auto timed = options("orders");
    timed.wall_clock = [&] { return noon + std::chrono::hours{hours.load()}; };
    timed.retry.backoff = exponential_backoff{.base = 1h, .max = 1h};
    node orders(timed);
    node inventory(options("inventory"));
    inventory.handle("Count", [](context&, const message&) { throw std::runtime_error("no"); });
    inventory.start();
    orders.start();
    orders.send("inventory", "Count", "{}");
    EXPECT_TRUE(eventually([&] { return last(orders, "retry_count") == "1"; }));
    EXPECT_EQ(last(orders, "created_at"), "1900000000000");
    EXPECT_EQ(last(orders, "expires_at - created_at"), "86400000");
    EXPECT_EQ(last(orders, "status"), "Pending");
    hours = 25;
    EXPECT_TRUE(becomes(orders, "Expired"));
    EXPECT_EQ(orders.health().level, health_level::green);
}

TEST_F(node_pluggable, without_an_outbox_a_node_receives_and_refuses_to_send) {
    auto receiving = options("inventory");
    receiving.parts = node_parts::inbox;
    node inventory(receiving);
    node orders(options("orders"));
    execute(inventory, "CREATE TABLE seen (id TEXT)");
    inventory.handle("Count", [](context& c, const message& m) {
        c.execute("INSERT INTO seen VALUES (?)", m.id.to_string());
    });
    inventory.start();
    orders.start();
    // Which cannot be answered from here, so nothing is said where there is nothing to say.
    orders.send("inventory", "Count", "{}", {.type = message_type::command});
    EXPECT_TRUE(becomes(orders, "Sent"));
    EXPECT_EQ(integer(inventory, "SELECT count(*) FROM seen"), 1);
    try {
        inventory.send("orders", "Count", "{}");
        ADD_FAILURE() << "it was sent";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), error_code::invalid_argument);
        EXPECT_THAT(refused.what(), HasSubstr("service.parts = \"both\""));
    }
    // Nobody holds the dispatcher's job, so that another node on the file may do it.
    EXPECT_EQ(integer(inventory, "SELECT count(*) FROM posthorn_leases WHERE owner <> ''"), 0);
}

TEST_F(node_pluggable, without_an_inbox_a_node_sends_and_receives_nothing) {
    auto sending = options("orders");
    sending.parts = node_parts::outbox;
    node orders(sending);
    node inventory(options("inventory"));
    inventory.handle("Count", [](context&, const message&) {});
    inventory.start();
    orders.start();
    orders.send("inventory", "Count", "{}");
    EXPECT_TRUE(becomes(orders, "Sent"));
    EXPECT_EQ(code_of([&] { (void)orders.call("inventory", recount{"nails"}); }),
              error_code::invalid_argument);
    inventory.send("orders", "Count", "{}");
    EXPECT_TRUE(eventually([&] { return last(inventory, "last_error") != ""; }));
    EXPECT_EQ(last(inventory, "status"), "Pending");
}

TEST_F(node_pluggable, handlers_without_an_inbox_are_refused_at_the_start) {
    auto sending = options("orders");
    sending.parts = node_parts::outbox;
    node orders(sending);
    orders.handle("Count", [](context&, const message&) {});
    EXPECT_EQ(code_of([&] { orders.start(); }), error_code::invalid_configuration);
}

TEST_F(node_pluggable, a_store_in_memory_works_like_another_and_says_that_it_is_none) {
    std::string file;
    {
        auto in_memory = options("orders");
        in_memory.store.database = "memory:";
        node orders(in_memory);
        node inventory(options("inventory"));
        inventory.handle("Count", [](context&, const message&) {});
        inventory.start();
        orders.start();
        execute(orders, "CREATE TABLE mine (n)");
        orders.send("inventory", "Count", "{}");
        EXPECT_TRUE(becomes(orders, "Sent"));
        EXPECT_FALSE(orders.health().durable);
        EXPECT_FALSE(orders.stats().durable);
        EXPECT_EQ(orders.health().level, health_level::green);
        EXPECT_TRUE(inventory.health().durable);
        file = orders.database_file();
        EXPECT_EQ(database(file).integer("SELECT count(*) FROM outbox_messages"), 1);
    }
    EXPECT_FALSE(std::filesystem::exists(file)) << file;
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(file).parent_path()));
}

TEST_F(node_pluggable, two_stores_in_memory_have_nothing_in_common) {
    auto in_memory = options("orders");
    in_memory.store.database = "memory:";
    node one(in_memory);
    in_memory.service = "stock";
    node other(in_memory);
    execute(one, "CREATE TABLE mine (n)");
    EXPECT_NE(one.database_file(), other.database_file());
    EXPECT_EQ(integer(other, "SELECT count(*) FROM sqlite_schema WHERE name = 'mine'"), 0);
}

TEST_F(node_pluggable, named_defaults_are_options_to_begin_with) {
    auto named = defaults("store-and-forward");
    EXPECT_EQ(named.options.retry.retries_max, 50);
    EXPECT_EQ(std::get<fixed_backoff>(named.options.retry.backoff).delay, 30s);
    EXPECT_EQ(named.options.listen.http, "");
    EXPECT_EQ(code_of([&] { node without_a_name(named); }), error_code::invalid_argument);
    named.options.service = "orders";
    named.options.store.database = path("orders");
    node orders(named);
    orders.send("nowhere", "Count", "{}");
    EXPECT_EQ(last(orders, "max_retries"), "50");
    EXPECT_EQ(code_of([] { (void)defaults("best"); }), error_code::invalid_argument);
}

}  // namespace
}  // namespace posthorn::integration
