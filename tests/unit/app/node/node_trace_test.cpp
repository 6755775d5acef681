// What nodes of this process tell a collector of a message's way, through the public API.
#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>

#include <gmock/gmock.h>

#include <posthorn/posthorn.hpp>
#include <posthorn/workflow.hpp>

#include "support/temporary_directory.hpp"
#include "unit/otlp/proto_fields.hpp"
#include "unit/transport/http/http_fixture.hpp"

namespace posthorn {
namespace {

using test::proto_fields;

struct told_span {
    std::string trace;
    std::string id;
    std::string parent;
    std::string name;
    std::map<std::string, std::string> said;
};

class node_trace : public test::http_fixture {
protected:
    node_trace() {
        port_ = listen([this](http_request request) -> task<http_response> {
            add(request.body);
            co_return http_response{};
        });
    }

    configuration configured(const std::string& service, const std::string& more = {}) {
        const auto file = folder_.file(service + ".toml");
        std::ofstream(file) << "[service]\nid = \"" << service
                            << "\"\n[store]\nurl = \"sqlite:" << folder_.file(service + ".db")
                            << "\"\n[otlp]\nendpoint = \"" << url(port_)
                            << "\"\ndelay = \"20ms\"\nmetrics = false\n"
                            << more;
        auto read = load(file);
        read.options.listen = {};  // The default of a port is the same for all.
        read.options.default_route = "inprocess:";
        read.options.log_sink = [](std::string_view) {};
        return read;
    }

    /// The spans that came so far, once there are so many of that name.
    std::vector<told_span> wait_for(const std::string& name, std::size_t count = 1) {
        std::unique_lock lock(mutex_);
        std::vector<told_span> found;
        changed_.wait(lock, [&] {
            found.clear();
            for (const auto& each : spans_)
                if (each.name == name) found.push_back(each);
            return found.size() >= count;
        });
        return found;
    }
    std::vector<told_span> all() {
        const std::scoped_lock lock(mutex_);
        return spans_;
    }

    test::temporary_directory folder_;

private:
    void add(const std::string& body) {
        const std::scoped_lock lock(mutex_);
        for (const auto& one : test::spans_in(body)) {
            told_span told{one.text(1), one.text(2), one.text(4), one.text(5), {}};
            for (auto& [key, value] : test::attributes_in(one, 9)) told.said[key] = value;
            spans_.push_back(std::move(told));
        }
        changed_.notify_all();
    }

    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<told_span> spans_;
};

TEST_F(node_trace, goes_from_the_publisher_through_handlers_to_what_they_send) {
    node stock(configured("stock"));
    stock.handle("Reserve", [](context& c, const message&) { c.send("billing", "Charge", "{}"); });
    node billing(configured("billing"));
    billing.handle_external("Charge", [](const message&) {});
    node orders(configured("orders"));
    for (auto* const each : {&stock, &billing, &orders}) each->start();
    orders.transact([](transaction& tx) { tx.send("stock", "Reserve", "{}"); });

    const auto charged = wait_for("inbox.handle", 2);
    const auto published = wait_for("outbox.publish", 2);
    const auto delivered = wait_for("outbox.deliver", 2);
    std::map<std::string, std::string> parents;
    std::map<std::string, std::string> names;
    for (const auto& each : all()) {
        if (each.name == "outbox.process_batch") continue;
        EXPECT_EQ(each.trace, published[0].trace) << each.name;
        parents[each.id] = each.parent;
        names[each.id] = each.name;
    }
    EXPECT_EQ(parents.size(), 6U) << "each has an id of its own";
    const auto last = charged[0].said.at("posthorn.endpoint") == "Charge" ? charged[0] : charged[1];
    std::vector<std::string> way;
    for (auto id = last.id; !id.empty(); id = parents[id]) way.push_back(names[id]);
    EXPECT_THAT(way, testing::ElementsAre("inbox.handle", "outbox.deliver", "outbox.publish",
                                          "inbox.handle", "outbox.deliver", "outbox.publish"));
}

TEST_F(node_trace, is_the_same_over_http_grpc_and_a_socket) {
    constexpr auto key_text = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    auto taking = configured("stock");
    taking.options.listen.http = "127.0.0.1:0";
    taking.options.listen.grpc = "127.0.0.1:0";
    taking.options.listen.unix_socket = folder_.file("stock.socket");
    for (const auto* const each : {"a0", "a1", "a2"}) taking.options.secrets[each] = {key_text};
    node stock(taking);
    stock.handle("Reserve", [](context&, const message&) {});
    stock.start();
    const auto places = stock.addresses();
    ASSERT_EQ(places.size(), 3U);
    for (std::size_t i = 0; i < places.size(); ++i) {
        auto sending = configured("a" + std::to_string(i));
        sending.options.routes["stock"] = places[i];
        sending.options.secrets["stock"] = {key_text};
        node sender(sending);
        sender.start();
        sender.send("stock", "Reserve", "{}");
        const auto handled = wait_for("inbox.handle", i + 1).back();
        const auto delivered = wait_for("outbox.deliver", i + 1);
        EXPECT_TRUE(std::ranges::any_of(delivered, [&](const told_span& one) {
            return one.id == handled.parent && one.trace == handled.trace;
        })) << places[i];
    }
}

TEST_F(node_trace, has_no_span_of_what_was_rolled_back) {
    node stock(configured("stock"));
    stock.handle("Reserve", [](context&, const message&) {});
    node orders(configured("orders"));
    stock.start();
    orders.start();
    struct refused {};
    EXPECT_THROW(orders.transact([](transaction& tx) {
        tx.send("stock", "Reserve", R"({"n":1})");
        throw refused{};
    }),
                 refused);
    orders.send("stock", "Reserve", "{}");
    wait_for("inbox.handle");
    EXPECT_EQ(wait_for("outbox.publish").size(), 1U);
    orders.stop();
    stock.stop();
    EXPECT_EQ(wait_for("outbox.publish").size(), 1U);
}

TEST_F(node_trace, goes_on_where_the_program_has_begun_it) {
    node stock(configured("stock"));
    std::promise<std::string> seen;
    stock.handle("Reserve", [&](context&, const message& what) { seen.set_value(what.headers); });
    node orders(configured("orders"));
    stock.start();
    orders.start();
    orders.send("stock", "Reserve", "{}",
                {.headers = R"({"a":1,"tracestate":"v=1","traceparent":)"
                            R"("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})"});
    const auto published = wait_for("outbox.publish")[0];
    using namespace std::string_literals;
    EXPECT_EQ(published.parent, "\x00\xf0\x67\xaa\x0b\xa9\x02\xb7"s);
    const auto handled = wait_for("inbox.handle")[0];
    EXPECT_EQ(handled.trace, published.trace);
    const auto headers = seen.get_future().get();
    EXPECT_THAT(headers, testing::HasSubstr(R"("a":1)"));
    EXPECT_THAT(headers, testing::HasSubstr(R"("tracestate":"v=1")"));
    EXPECT_THAT(headers,
                testing::StartsWith(R"({"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-)"));
    EXPECT_THAT(headers, testing::Not(testing::HasSubstr("00f067aa0ba902b7")))
        << "the handler sees its own span";
}

TEST_F(node_trace, tells_of_failed_attempts_without_their_words) {
    node orders(configured("orders", "[outbox]\nretry_delay_base = \"5ms\"\nmax_retries = 1\n"));
    node stock(configured("stock"));
    stock.handle("Reserve", [](context&, const message&) -> std::string {
        throw permanent("the payload says secret");
    });
    stock.start();
    orders.start();
    orders.send("stock", "Reserve", R"({"secret":1})");
    EXPECT_TRUE(wait_for("inbox.handle")[0].said.contains("error.type"));
    EXPECT_TRUE(wait_for("outbox.deliver")[0].said.contains("error.type"));
    for (const auto& each : all())
        for (const auto& [key, value] : each.said)
            EXPECT_THAT(value, testing::Not(testing::HasSubstr("secret"))) << key;
}

struct paid {
    using contract = as_signal<"Paid">;
    std::string order;
};

workflow<std::int64_t> ship(flow<>& f, paid what) {
    co_await f.sleep(std::chrono::milliseconds(1));
    co_return std::ssize(what.order);
}
POSTHORN_WORKFLOW(ship, "Ship", 1)

TEST_F(node_trace, goes_through_the_steps_of_a_workflow) {
    node shipping(configured("shipping"));
    shipping.add(ship, {.starts_on = the<&paid::order>});
    node orders(configured("orders"));
    shipping.start();
    orders.start();
    orders.send("shipping", paid{"o1"});
    const auto steps = wait_for("workflow.step", 2);
    const auto handled = wait_for("inbox.handle")[0];
    for (const auto& each : steps) {
        EXPECT_EQ(each.trace, handled.trace);
        EXPECT_EQ(each.parent, handled.id);
        EXPECT_EQ(each.said.at("posthorn.workflow.name"), "Ship");
        EXPECT_EQ(each.said.at("posthorn.workflow.id"), "o1");
    }
    EXPECT_NE(steps[0].id, steps[1].id);
}

workflow<std::int64_t> pack(flow<>& f, std::string order) {
    co_await f.sleep(std::chrono::milliseconds(1));
    co_return std::ssize(order);
}
POSTHORN_WORKFLOW(pack, "Pack", 1)

/// In two runs, each with a child.
workflow<std::int64_t> ship_in_parts(flow<>& f, std::string order, bool is_last) {
    const auto packed = co_await f.child(pack, order + (is_last ? "/2" : "/1"), order);
    if (is_last) co_return packed;
    co_await f.again(ship_in_parts, order, true);
}
POSTHORN_WORKFLOW(ship_in_parts, "ShipInParts", 1)

TEST_F(node_trace, goes_on_in_children_and_in_the_next_run_of_a_workflow) {
    node shipping(configured("shipping"));
    shipping.add(pack);
    shipping.add(ship_in_parts);
    shipping.start();
    shipping.transact([](transaction& tx) { tx.start(ship_in_parts, "o1", "o1", false); });
    const auto steps = wait_for("workflow.step", 8);
    std::map<std::string, std::string> whose;
    std::vector<std::string> runs;
    for (const auto& each : steps) {
        EXPECT_EQ(each.trace, steps[0].trace);
        const auto& name = each.said.at("posthorn.workflow.name");
        whose[each.id] = name;
        if (name == "ShipInParts")
            runs.push_back(each.said.at("posthorn.workflow.run") + "/" +
                           each.said.at("posthorn.workflow.step"));
    }
    EXPECT_EQ(whose.size(), 8U) << "each has an id of its own";
    EXPECT_THAT(runs, testing::UnorderedElementsAre("1/1", "1/2", "2/1", "2/2"));
    std::size_t firsts = 0;
    for (const auto& each : steps) {
        firsts += each.parent.empty() ? 1 : 0;
        if (whose[each.id] == "Pack") EXPECT_EQ(whose[each.parent], "ShipInParts");
    }
    EXPECT_EQ(firsts, 1U);
}

}  // namespace
}  // namespace posthorn
