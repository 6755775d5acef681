// Nodes that reach each other from outside, by code and by a file.
#include <atomic>
#include <fstream>
#include <future>

#include <gmock/gmock.h>

#include <posthorn/proxy.hpp>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

struct greeting {
    std::string text;
};
POSTHORN_SIGNAL(greeting, "Greeting", text)
using greeter = service<"greeter", 1, greeting>;

constexpr auto key_text = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

class node_wire : public node_test {
protected:
    [[nodiscard]] node_options outside(const std::string& service) const {
        auto made = options(service);
        made.default_route.clear();
        return made;
    }
    static bool is_sent(node& by) {
        return test::eventually([&] { return by.stats().sent == 1; });
    }
};

TEST_F(node_wire, carries_messages_over_http_by_code) {
    auto taking = outside("greeter");
    taking.listen.http = "127.0.0.1:0";
    taking.secrets["caller"] = {key_text};
    node greeter_node(taking);
    std::promise<std::string> heard;
    greeter_node.handle<greeting>([&](context& c, const greeting& said) {
        heard.set_value(c.received().source + said.text);
    });
    greeter_node.start();
    ASSERT_EQ(greeter_node.addresses().size(), 1U);

    auto sending = outside("caller");
    sending.routes["greeter"] = greeter_node.addresses()[0];
    sending.secrets["greeter"] = {key_text};
    node caller(sending);
    const proxy<greeter> to(caller);  // So that the start checks the way.
    caller.start();
    caller.send("greeter", greeting{"hi"});
    auto arrival = heard.get_future();
    ASSERT_EQ(arrival.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    EXPECT_EQ(arrival.get(), "callerhi");
    EXPECT_TRUE(is_sent(caller));
}

TEST_F(node_wire, is_refused_where_a_route_leaves_the_process_without_a_secret) {
    auto sending = outside("caller");
    sending.routes["greeter"] = "http://127.0.0.1:1";
    EXPECT_THAT([&] { const node caller(sending); },
                testing::ThrowsMessage<error>(testing::HasSubstr("greeter has no secret")));
}

TEST_F(node_wire, takes_pipes_grpc_older_signatures_and_mutual_tls_by_code) {
    const auto folder = directory.path().filename().string();
    auto taking = outside("greeter");
    taking.listen.pipe = "{service}-" + folder;
    taking.listen.grpc = "127.0.0.1:0";
    taking.secrets["caller"] = {key_text};
    taking.signatures["caller"] = "rf-hmac";
    node greeter_node(taking);
    std::atomic<int> heard = 0;
    greeter_node.handle<greeting>([&](context&, const greeting&) { ++heard; });
    greeter_node.start();
    const auto places = greeter_node.addresses();
    ASSERT_EQ(places.size(), 2U);
    EXPECT_EQ(places[0], "pipe://greeter-" + folder);
    for (const auto& place : places) {
        auto sending = outside("caller");
        sending.store.database = path(place.substr(0, 4));
        sending.routes["greeter"] = place;
        sending.secrets["greeter"] = {key_text};
        sending.signatures["greeter"] = "rf-hmac";
        node caller(sending);
        caller.start();
        caller.send("greeter", greeting{"hi"});
        EXPECT_TRUE(is_sent(caller)) << place;
    }
    EXPECT_EQ(heard, 2);

    auto open = outside("greeter");
    open.store.database = path("open");
    open.listen.grpc = "0.0.0.0:0";
    EXPECT_THROW(node(open).start(), error) << "others could reach it";
    open.listen.grpc.clear();
    open.tls.mutual = true;
    EXPECT_THROW(node(open).start(), error) << "it has no certificate";
}

TEST_F(node_wire, carries_a_trace_from_the_producer_to_the_handler_to_the_response) {
    const std::string trace =
        R"({"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",)"
        R"("tracestate":"v=1"})";
    auto taking = outside("greeter");
    taking.listen.http = "127.0.0.1:0";
    taking.secrets["caller"] = {key_text};
    taking.routes["caller"] = "inprocess:";
    node greeter_node(taking);
    std::promise<std::string> handled;
    greeter_node.handle("Ask", [&](context& c, const message&) {
        handled.set_value(c.received().headers);
        return std::string("{}");
    });
    greeter_node.start();

    auto sending = outside("caller");
    sending.routes["greeter"] = greeter_node.addresses()[0];
    sending.secrets["greeter"] = {key_text};
    node caller(sending);
    std::promise<std::string> answered;
    caller.handle("Ask",
                  [&](context& c, const message&) { answered.set_value(c.received().headers); });
    caller.start();
    caller.send("greeter", "Ask", "{}", {.type = message_type::command, .headers = trace});
    for (auto* const where : {&handled, &answered}) {
        auto seen = where->get_future();
        ASSERT_EQ(seen.wait_for(std::chrono::seconds(30)), std::future_status::ready);
        EXPECT_EQ(seen.get(), trace);
    }
}

TEST_F(node_wire, refuses_to_start_a_proxy_that_could_not_sign) {
    auto sending = outside("caller");
    sending.default_route = "http://127.0.0.1:1";
    node caller(sending);
    const proxy<greeter> to(caller);
    try {
        caller.start();
        FAIL() << "started";
    } catch (const error& why) {
        EXPECT_EQ(why.code(), error_code::invalid_configuration);
        EXPECT_THAT(why.what(), testing::HasSubstr("without a secret; add one under [secrets]"));
    }
}

TEST_F(node_wire, refuses_a_route_that_nothing_could_be_signed_for) {
    auto sending = outside("caller");
    sending.routes["greeter"] = "http://127.0.0.1:1";
    try {
        const node caller(sending);
        FAIL() << "made";
    } catch (const error& why) {
        EXPECT_EQ(why.code(), error_code::invalid_configuration);
        EXPECT_THAT(why.what(), testing::HasSubstr("greeter has no secret; add greeter under"));
    }
}

TEST_F(node_wire, sends_by_a_transport_of_the_application) {
    std::mutex mutex;
    std::vector<std::string> seen;
    int failures = 1;
    auto sending = outside("caller");
    sending.routes["greeter"] = "carrier:pigeon/7";
    sending.transports["carrier"] = [&](const outgoing& batch) {
        const std::scoped_lock lock(mutex);
        if (failures-- > 0) throw std::runtime_error("rain");
        for (const auto* one : batch.messages)
            seen.push_back(std::string(batch.destination) + " " + std::string(batch.url) + " " +
                           one->payload);
        return std::vector<delivery>(batch.messages.size(), {.what = outcome::delivered});
    };
    node caller(sending);
    const proxy<greeter> to(caller);  // Whoever brings a transport sees to its safety himself.
    caller.start();
    caller.send("greeter", greeting{"hi"});
    EXPECT_TRUE(is_sent(caller));
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(seen, (std::vector<std::string>{R"(greeter carrier:pigeon/7 {"text":"hi"})"}));
}

TEST_F(node_wire, says_which_routes_there_are) {
    auto sending = outside("caller");
    sending.routes["greeter"] = "carrier:pigeon";
    EXPECT_EQ(code_of([&] { const node caller(sending); }), error_code::invalid_configuration);
}

TEST_F(node_wire, takes_its_options_from_a_file) {
    std::ofstream(directory.file("n.toml"))
        << "[service]\nid = \"greeter\"\n[store]\nurl = \"sqlite:sub/g.db\"\n"
           "[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"\"\n[routes]\ngreeter = \"inprocess:\"\n"
           "[handlers]\nGreeting = \"sql:INSERT INTO heard VALUES (:text)\"\n"
           "[log]\nlevel = \"error\"\n";
    auto read = load(directory.file("n.toml"));
    EXPECT_EQ(read.options.service, "greeter");
    EXPECT_EQ(read.options.store.database, directory.file("sub/g.db"));
    read.options.log_sink = [](std::string_view) {};
    node self(read);
    execute(self, "CREATE TABLE heard (text TEXT)");
    self.start();
    EXPECT_EQ(self.addresses().size(), 1U);
    self.send("greeter", greeting{"me"});
    EXPECT_TRUE(is_sent(self));
    EXPECT_EQ(text(self, "SELECT text FROM heard"), "me");
    EXPECT_EQ(code_of([&] { static_cast<void>(load(directory.file("none.toml"))); }),
              error_code::invalid_configuration);
}

}  // namespace
}  // namespace posthorn::integration
