// A relay between an application's own outbox and its own publisher.
#include <atomic>
#include <barrier>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

#include <posthorn/node.hpp>

#include "conformance/own/shop_stores.hpp"
#include "conformance/own/suite.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

/// The application's own publisher.
class publisher {
public:
    own_publisher function() {
        return [this](const own_message& one) {
            const std::scoped_lock lock(mutex_);
            seen_ += one.payload;
            if (refused_.contains(one.payload)) throw std::runtime_error("no place for it");
        };
    }
    void refuse(const std::string& payload) { refused_.insert(payload); }
    void refuse_no_more() { refused_.clear(); }
    /// What was tried since, one behind the other.
    std::string take() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(seen_, {});
    }

private:
    std::mutex mutex_;
    std::string seen_;
    std::set<std::string> refused_;
};

class own_relayed : public own_store {
protected:
    own_relay::parts parts() {
        return {*stores_.outbox, published_.function(), stores_.dead_letters.get()};
    }
    relay_options options(int retries = 2) {
        return {.retry = {.retries_max = retries, .backoff = fixed_backoff{2s}},
                .wall_clock = [this] { return now_; },
                .log_sink = [this](std::string_view line) { log_.append(line).append("\n"); }};
    }

    publisher published_;
    wall_time now_ = noon;
    std::string log_;
};

TEST_P(own_relayed, publishes_each_message_once_in_its_order) {
    own_relay relay(parts(), options());
    EXPECT_EQ(relay.look(), 0U);
    added("1");
    added("2");
    EXPECT_EQ(relay.look(), 2U);
    EXPECT_EQ(published_.take(), "12");
    EXPECT_EQ(relay.look(), 0U);
    EXPECT_EQ(published_.take(), "");
}

TEST_P(own_relayed, tries_again_after_a_pause_and_gives_up_at_last_and_holds_up_no_other) {
    own_relay relay(parts(), options());
    const auto bad = added("1");
    added("2");
    published_.refuse("1");
    relay.look();
    EXPECT_EQ(published_.take(), "12");
    relay.look();
    EXPECT_EQ(published_.take(), "") << "not before its time";
    for (int i = 0; i < 2; ++i) {
        now_ += 2s;
        relay.look();
        EXPECT_EQ(published_.take(), "1");
    }
    now_ += 24h;
    relay.look();
    EXPECT_EQ(published_.take(), "");
    const auto dead = stores_.dead_letters->list();
    ASSERT_EQ(dead.size(), 1U);
    EXPECT_EQ(dead[0].id, bad.id);
    EXPECT_EQ(dead[0].retry_count, 3);
    EXPECT_EQ(dead[0].error, "no place for it");
    EXPECT_NE(log_.find("is given up: no place for it"), log_.npos);
}

TEST_P(own_relayed, publishes_a_dead_letter_that_was_requeued_with_all_its_retries) {
    own_relay relay(parts(), options(0));
    const auto one = added("1");
    published_.refuse("1");
    relay.look();
    ASSERT_TRUE(stores_.dead_letters->requeue(one.id));
    published_.refuse_no_more();
    published_.take();
    relay.look();
    EXPECT_EQ(published_.take(), "1");
    EXPECT_TRUE(stores_.dead_letters->list().empty());
}

TEST_P(own_relayed, takes_effect_once_though_what_was_published_could_not_be_marked) {
    /// As if the process ended before it could mark anything.
    class forgetful final : public own_outbox {
    public:
        explicit forgetful(own_outbox& of) : of_(of) {}
        void add(const own_message& what) override { of_.add(what); }
        std::vector<own_message> pending(std::size_t limit, wall_time now) override {
            return of_.pending(limit, now);
        }
        void mark_published(const uuid&, wall_time) override {
            throw std::runtime_error("the disk is full");
        }
        void mark_failed(const uuid&, std::string_view, std::optional<wall_time>) override {}

    private:
        own_outbox& of_;
    };
    int effects = 0, calls = 0;
    const own_publisher to_receiver = [&](const own_message& one) {
        ++calls;
        process_once(*stores_.inbox, "shop", one.id, [&] { ++effects; });
    };
    added("1");
    forgetful broken(*stores_.outbox);
    own_relay first({broken, to_receiver}, options());
    first.look();
    EXPECT_NE(log_.find("cannot be recorded, it is published again: the disk is full"), log_.npos);
    own_relay second({*stores_.outbox, to_receiver}, options());
    second.look();
    second.look();
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(effects, 1);
}

TEST_P(own_relayed, lives_on_where_the_outbox_cannot_be_read) {
    class broken final : public own_outbox {
    public:
        void add(const own_message&) override {}
        std::vector<own_message> pending(std::size_t, wall_time) override { throw 7; }
        void mark_published(const uuid&, wall_time) override {}
        void mark_failed(const uuid&, std::string_view, std::optional<wall_time>) override {}
    };
    broken outbox;
    own_relay relay({outbox, published_.function()}, options());
    EXPECT_EQ(relay.look(), 0U);
    EXPECT_NE(log_.find("the outbox cannot be read, will try again"), log_.npos);
}

TEST_P(own_relayed, takes_a_number_of_retries_for_data_whatever_it_is) {
    for (const auto count :
         {std::numeric_limits<std::int32_t>::min(), -1, std::numeric_limits<std::int32_t>::max()}) {
        auto one = event("1");
        one.retry_count = count;
        stores_.outbox->add(one);
    }
    published_.refuse("1");
    own_relay relay(parts(), options());
    EXPECT_EQ(relay.look(), 3U);
    EXPECT_EQ(stores_.dead_letters->list().size(), 1U) << "the one with so many";
}

TEST_P(own_relayed, publishes_four_at_a_time_if_it_is_told_to) {
    for (int i = 0; i < 8; ++i) added(std::to_string(i));
    std::atomic<int> at_once = 0;
    std::barrier four(4);  // None passes until four are there.
    auto with = options();
    with.parallel = 4;
    own_relay relay({*stores_.outbox,
                     [&](const own_message&) {
                         ++at_once;
                         four.arrive_and_wait();
                         EXPECT_LE(at_once, 4);
                         four.arrive_and_wait();
                         --at_once;
                         four.arrive_and_wait();
                     }},
                    with);
    EXPECT_EQ(relay.look(), 8U);
    EXPECT_EQ(relay.look(), 0U);
}

TEST_P(own_relayed, publishes_by_itself_once_it_is_started_and_when_it_is_woken) {
    auto with = options();
    with.polling_interval = 24h;
    with.wall_clock = {};
    own_relay relay(parts(), with);
    added("1");
    relay.start();
    relay.start();
    EXPECT_TRUE(test::eventually([&] { return published_.take() == "1"; }));
    relay.stop();
    added("2");
    relay.start();
    EXPECT_TRUE(test::eventually([&] { return published_.take() == "2"; }));
    relay.wake();
    relay.stop();
}

INSTANTIATE_TEST_SUITE_P(own, own_relayed, ::testing::Values(in_memory(), of_a_shop()),
                         [](const auto& which) { return which.param.name; });

TEST(own_relay_of_a_shop, publishes_what_was_committed_with_its_order_and_nothing_else) {
    shop::database base(":memory:");
    const auto outbox = shop::make_outbox(base);
    base.run("CREATE TABLE orders (item TEXT)");
    base.run("BEGIN");
    base.run("INSERT INTO orders VALUES ('tea')");
    uuid::bytes_type id{};
    outbox->add({.id = uuid(id), .event_type = "OrderCreated", .payload = "tea"});
    base.run("ROLLBACK");
    std::string published;
    own_relay relay({*outbox, [&](const own_message& one) { published += one.payload; }});
    EXPECT_EQ(relay.look(), 0U);
    base.run("BEGIN");
    base.run("INSERT INTO orders VALUES ('milk')");
    outbox->add({.id = uuid(id), .event_type = "OrderCreated", .payload = "milk"});
    base.run("COMMIT");
    EXPECT_EQ(relay.look(), 1U);
    EXPECT_EQ(published, "milk");
}

TEST(own_relay_of_a_shop, hands_messages_to_a_node_that_brings_them_on_once) {
    shop::database base(":memory:");
    const auto outbox = shop::make_outbox(base);
    std::atomic<int> received = 0;
    node orders({.service = "orders",
                 .store = {.database = "memory:"},
                 .routes = {{"orders", "inprocess:"}}});
    orders.handle("OrderCreated", [&](context&, const message&) { ++received; });
    orders.start();
    const own_publisher to_node = [&](const own_message& one) {
        try {
            orders.send("orders", one.event_type, one.payload, {.id = one.id});
        } catch (const error& why) {
            if (why.code() != error_code::duplicate_id) throw;  // It has it already.
        }
    };
    uuid::bytes_type id{};
    id.back() = 7;
    const own_message one{.id = uuid(id), .event_type = "OrderCreated", .payload = "{}"};
    outbox->add(one);
    own_relay relay({*outbox, to_node});
    relay.look();
    to_node(one);  // As after a crash.
    EXPECT_TRUE(test::eventually([&] { return orders.stats().pending == 0; }));
    EXPECT_EQ(received, 1);
    orders.stop();
}

}  // namespace
}  // namespace posthorn::conformance
