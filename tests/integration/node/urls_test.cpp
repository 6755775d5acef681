// Messages to the URL of a service that no route names, over real sockets.
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/fault_proxy.hpp"
#include "support/name_server.hpp"

namespace posthorn::integration {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto key_text = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr auto to_loopback = "enabled = true\nplain_http = true\nallow = \"127.0.0.1\"\n";

class node_urls : public node_test {
protected:
    /// What stock is reached by. The gate is there first, so that stock can be told of it.
    [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const {
        return fmt::format("http://{}:{}", host, gate.address().port);
    }

    [[nodiscard]] configuration from_file(const std::string& service,
                                          const std::string& rest) const {
        const auto file = directory.file(service + ".toml");
        std::ofstream(file) << fmt::format(
            "[store]\nurl = \"sqlite:{}\"\n[log]\nlevel = \"error\"\n[listen]\nadmin = \"\"\n"
            "{}",
            path(service), rest);
        auto made = load(file);
        made.options.log_sink = [](std::string_view) {};
        made.options.retry = {
            .retries_max = 2,
            .backoff = exponential_backoff{.base = std::chrono::milliseconds(1),
                                           .max = std::chrono::milliseconds(5),
                                           .jitter_max = std::chrono::milliseconds(1)}};
        return made;
    }
    /// A service that sends, and listens nowhere.
    [[nodiscard]] configuration orders(const std::string& urls, const std::string& more) const {
        return from_file("orders", fmt::format("http = \"\"\n[service]\nid = \"orders\"\n"
                                               "[urls]\n{}{}",
                                               urls, more));
    }
    [[nodiscard]] static std::string secret_for(const std::string& peer) {
        return fmt::format("[secrets]\n\"{}\" = \"{}\"\n", peer, key_text);
    }
    /// A service that takes what is meant for its id and for these URLs.
    [[nodiscard]] configuration stock(const std::string& urls) const {
        return from_file("stock", fmt::format("http = \"127.0.0.1:0\"\n[service]\nid = \"stock\"\n"
                                              "urls = \"{}\"\n{}",
                                              urls, secret_for("orders")));
    }
    void start(node& taking) {
        taking.handle("Reserve", [this](context&, const message& got) {
            const std::scoped_lock lock(mutex_);
            ++heard_[got.id.to_string()];
            from_ = got.source;
            return std::string(R"({"reserved":1})");
        });
        taking.start();
        const auto place = taking.addresses().at(0);
        gate.aim(
            {.port = static_cast<std::uint16_t>(std::stoi(place.substr(place.rfind(':') + 1)))});
    }
    [[nodiscard]] std::map<std::string, int> heard() {
        const std::scoped_lock lock(mutex_);
        return heard_;
    }
    static bool is_dead(node& by, std::int64_t messages = 1) {
        return test::eventually([&] { return by.stats().dead == messages; });
    }
    static std::string last_error(node& by) {
        return text(
            by, "SELECT COALESCE(last_error, '') FROM outbox_messages ORDER BY seq DESC LIMIT 1");
    }

    test::fault_proxy gate{{}, {}};
    std::mutex mutex_;
    std::map<std::string, int> heard_;
    std::string from_;
};

TEST_F(node_urls, bring_messages_to_a_service_that_no_route_names_and_its_answers_back) {
    node taking(stock("https://stock.example, " + url()));
    start(taking);
    node sending(orders(to_loopback, secret_for(url())));
    sending.start();
    constexpr int messages = 200;
    sending.transact([&](transaction& tx) {
        for (int i = 0; i < messages; ++i) tx.send(url(), "Reserve", "{}");
    });
    ASSERT_TRUE(test::eventually([&] { return sending.stats().sent == messages; }))
        << last_error(sending);
    const auto all = heard();
    EXPECT_EQ(all.size(), 200U);
    for (const auto& [id, times] : all) EXPECT_EQ(times, 1) << id;
    EXPECT_EQ(from_, "orders");
    EXPECT_EQ(text(sending, "SELECT DISTINCT destination FROM outbox_messages"), url());
}

TEST_F(node_urls, are_off_unless_the_setting_says_so_and_the_message_names_it) {
    node taking(stock(url()));
    start(taking);
    node sending(orders("", secret_for(url())));
    sending.start();
    sending.send(url(), "Reserve", "{}");
    EXPECT_TRUE(test::eventually([&] {
        return last_error(sending).contains("urls.enabled = true");
    })) << last_error(sending);
    EXPECT_EQ(text(sending, "SELECT status FROM outbox_messages"), "Pending");
    EXPECT_EQ(gate.connections(), 0U);
}

TEST_F(node_urls, give_way_to_a_route_of_that_name) {
    node taking(stock(url()));
    start(taking);
    node sending(orders("enabled = true\n",
                        secret_for(url()) + fmt::format("[routes]\n\"{0}\" = \"{0}\"\n", url())));
    sending.start();
    sending.send(url(), "Reserve", "{}");
    EXPECT_TRUE(test::eventually([&] { return sending.stats().sent == 1; }))
        << "what an operator wrote down is not guarded: " << last_error(sending);
}

TEST_F(node_urls, of_this_machine_are_refused_unless_their_network_is_allowed) {
    node sending(orders("enabled = true\nplain_http = true\n", secret_for(url())));
    sending.start();
    sending.send(url(), "Reserve", "{}");
    ASSERT_TRUE(is_dead(sending));
    EXPECT_THAT(last_error(sending),
                AllOf(HasSubstr("127.0.0.1 is refused: this machine"), HasSubstr("urls.allow")));
    EXPECT_EQ(gate.connections(), 0U);
}

TEST_F(node_urls, without_a_secret_wait_uncharged_and_nothing_is_sent) {
    node sending(orders(to_loopback, ""));
    sending.start();
    sending.send(url(), "Reserve", "{}");
    EXPECT_TRUE(test::eventually(
        [&] { return last_error(sending).contains("there is no secret for " + url()); }));
    EXPECT_EQ(text(sending, "SELECT retry_count FROM outbox_messages"), "0");
    EXPECT_EQ(gate.connections(), 0U);
}

TEST_F(node_urls, that_their_receiver_does_not_go_by_bring_nothing_in_and_say_so) {
    node taking(stock("https://stock.example"));
    start(taking);
    node sending(orders(to_loopback, secret_for(url())));
    sending.start();
    sending.send(url(), "Reserve", "{}");
    EXPECT_TRUE(test::eventually([&] { return last_error(sending).contains("service.urls"); }));
    EXPECT_EQ(text(sending, "SELECT retry_count FROM outbox_messages"), "0");
    EXPECT_TRUE(heard().empty());
}

TEST_F(node_urls, that_cannot_be_called_are_dead_letters_that_say_what_to_do) {
    node sending(orders("enabled = true\n", ""));
    sending.start();
    const std::vector<std::pair<std::string, std::string>> cases{
        {"http://stock.example", "urls.plain_http = true"},
        {"ftp://stock.example", "[routes]"},
        {"https://user:password@stock.example", "a user or a password"},
        {"https://stock.example#top", "a fragment"},
        {"https://stock.example?a=b", "a query"},
        {"https://[fe80::1%25eth0]", "percent-encoded"},
        {"https://169.254.169.254", "urls.allow"},
        {"https://stock.internal:7400", "the local network"},
    };
    std::int64_t dead = 0;
    for (const auto& [to, why] : cases) {
        sending.send(to, "Reserve", "{}");
        ASSERT_TRUE(is_dead(sending, ++dead)) << to;
        EXPECT_THAT(last_error(sending), HasSubstr(why)) << to;
    }
    EXPECT_EQ(code_of([&] { sending.send("https://" + std::string(64 << 10, 'a'), "E", "{}"); }),
              error_code::invalid_argument);
}

TEST_F(node_urls, are_judged_by_what_their_name_means_when_a_connection_is_made) {
    std::mutex telling;
    std::string means = "127.0.0.2";
    test::name_server names([&](const std::string& asked) {
        const std::scoped_lock lock(telling);
        test::name_server::reply reply;
        if (asked == "stock.example")
            reply.addresses.push_back(boost::asio::ip::make_address(means));
        else
            reply.code = 3;
        return reply;
    });
    const auto by_name = url("stock.example");
    node taking(stock(by_name));
    start(taking);
    node sending(orders(to_loopback + fmt::format("name_servers = \"{}\"\n", names.address()),
                        secret_for(by_name)));
    sending.start();
    const auto id = sending.send(by_name, "Reserve", "{}");
    ASSERT_TRUE(is_dead(sending)) << "it was tried again, since a name may mean another machine";
    EXPECT_THAT(last_error(sending),
                AllOf(HasSubstr("stock.example: 127.0.0.2 is refused"), HasSubstr("urls.allow")));
    EXPECT_EQ(gate.connections(), 0U);
    {
        const std::scoped_lock lock(telling);
        means = "127.0.0.1";
    }
    EXPECT_TRUE(sending.requeue(id));
    EXPECT_TRUE(test::eventually([&] { return sending.stats().sent == 1; })) << last_error(sending);
    EXPECT_EQ(heard().size(), 1U);
}

TEST_F(node_urls, are_tried_again_while_nothing_answers_there) {
    node sending(orders(to_loopback, secret_for(url())));
    sending.start();
    gate.refuse();
    sending.send(url(), "Reserve", "{}");
    EXPECT_TRUE(test::eventually([&] { return last_error(sending).contains("unreachable"); }));
    node taking(stock(url()));
    start(taking);
    gate.accept_again();
    EXPECT_TRUE(test::eventually([&] { return sending.stats().sent == 1; })) << last_error(sending);
}

}  // namespace
}  // namespace posthorn::integration
