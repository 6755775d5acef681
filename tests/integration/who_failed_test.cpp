// Who is charged when an attempt fails: the table of docs/concepts/lanes.md, over real sockets.
#include <atomic>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/raw_http.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr auto key_text = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr auto other_key_text = "base64:HxwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgEAHh8=";

/// Answers every request with the same bytes, or closes the connection if there are none.
class parrot {
public:
    explicit parrot(std::string answer) : answer_(std::move(answer)) {}
    ~parrot() {
        ends_ = true;
        test::raw_http(listener_.port()).send("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
        thread_.join();
    }
    parrot(const parrot&) = delete;
    parrot& operator=(const parrot&) = delete;

    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(listener_.port());
    }
    [[nodiscard]] int requests() const noexcept { return requests_; }

private:
    void run() {
        while (!ends_) {
            const auto caller = listener_.accept();
            try {
                static_cast<void>(caller->receive());
                ++requests_;
                caller->send(answer_);
            } catch (const std::runtime_error&) {  // It went away, which is its right.
            }
        }
    }

    std::string answer_;
    test::raw_listener listener_;
    std::atomic<bool> ends_ = false;
    std::atomic<int> requests_ = 0;
    std::thread thread_{[this] { run(); }};
};

std::string unsigned_answer(int status, const std::string& body = "<html>") {
    return "HTTP/1.1 " + std::to_string(status) + " As It Is\r\nContent-Type: text/html\r\n" +
           "Connection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

/// What nodes log.
class log_lines {
public:
    void add(std::string_view line) {
        const std::scoped_lock lock(mutex_);
        all_.emplace_back(line);
    }
    [[nodiscard]] std::vector<std::string> all() const {
        const std::scoped_lock lock(mutex_);
        return all_;
    }
    [[nodiscard]] std::vector<std::string> worse_than_info() const {
        auto some = all();
        std::erase_if(some, [](const auto& line) {
            return line.contains("[INF]") || line.contains("[DBG]");
        });
        return some;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> all_;
};

class who_failed : public node_test {
protected:
    [[nodiscard]] node_options outside(const std::string& service) const {
        auto made = options(service);
        made.default_route.clear();
        return made;
    }
    [[nodiscard]] node_options caller_to(const std::string& url) const {
        auto made = outside("caller");
        made.routes["greeter"] = url;
        made.secrets["greeter"] = {key_text};
        return made;
    }
    [[nodiscard]] node_options greeter() const {
        auto made = outside("greeter");
        made.listen.http = "127.0.0.1:0";
        made.secrets["caller"] = {key_text};
        return made;
    }
    /// Sends a message that a single failure of its own buries; waits until it was tried.
    static void try_once(node& caller) {
        caller.start();
        caller.send("greeter", "Greet", "{}", {.max_retries = 0});
        ASSERT_TRUE(test::eventually([&] { return !last(caller, "last_error").empty(); }));
    }
    static std::string last(node& on, const std::string& column) {
        return text(on, "SELECT coalesce(" + column + ", '') FROM outbox_messages");
    }
    static void expect_not_charged(node& caller, const testing::Matcher<std::string>& why) {
        EXPECT_EQ(last(caller, "status"), "Pending");
        EXPECT_EQ(last(caller, "retry_count"), "0");
        EXPECT_THAT(last(caller, "last_error"), why);
    }
    static void expect_charged(node& caller, const testing::Matcher<std::string>& why) {
        EXPECT_EQ(last(caller, "status"), "Dead");
        EXPECT_EQ(last(caller, "retry_count"), "1");
        EXPECT_THAT(last(caller, "last_error"), why);
    }
    void expect_not_charged_by(node_options taking, const std::string& why) {
        node receiver(std::move(taking));
        receiver.handle("Greet", [](context&, const message&) {});
        receiver.start();
        node caller(caller_to(receiver.addresses().at(0)));
        try_once(caller);
        expect_not_charged(caller, HasSubstr(why));
        said_by_receiver = receiver.health().reasons;
    }
    std::vector<std::string> said_by_receiver{};
};

TEST_F(who_failed, a_peer_that_is_not_there_is_not_the_message) {
    std::string address;
    {
        node receiver(greeter());
        receiver.start();
        address = receiver.addresses().at(0);
    }
    node caller(caller_to(address));
    try_once(caller);
    expect_not_charged(caller, HasSubstr("unreachable: "));
}

TEST_F(who_failed, a_connection_that_breaks_is_not_the_message) {
    const parrot closes("");
    node caller(caller_to(closes.url()));
    try_once(caller);
    expect_not_charged(caller, HasSubstr("unreachable: "));
}

TEST_F(who_failed, an_outage_is_one_line_of_the_log_however_many_messages_wait) {
    const parrot silent("");
    log_lines lines;
    auto sending = caller_to(silent.url());
    sending.log_sink = [&](std::string_view line) { lines.add(line); };
    {
        node caller(sending);
        caller.start();
        for (int i = 0; i < 50; ++i) caller.send("greeter", "Greet", "{}");
        // Five silences open the lane; what follows are probes.
        ASSERT_TRUE(test::eventually([&] { return silent.requests() >= 7; }));
        EXPECT_EQ(integer(caller, "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"),
                  50);
    }
    EXPECT_THAT(lines.worse_than_info(),
                ElementsAre(HasSubstr("greeter gives no answer that counts")));
}

TEST_F(who_failed, an_unsigned_answer_of_any_status_is_not_the_message) {
    for (const int status : {200, 302, 400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 504}) {
        SCOPED_TRACE(status);
        const parrot proxy(unsigned_answer(status));
        auto sending = caller_to(proxy.url());
        sending.store.database = path("caller" + std::to_string(status));
        node caller(sending);
        try_once(caller);
        expect_not_charged(caller, AllOf(HasSubstr("the answer with status " +
                                                   std::to_string(status) + " does not count"),
                                         HasSubstr("a proxy or from another service")));
    }
}

TEST_F(who_failed, an_acknowledgement_that_is_not_signed_settles_nothing) {
    const parrot liar(unsigned_answer(200, R"({"acknowledged":true,"duplicate":true})"));
    node caller(caller_to(liar.url()));
    try_once(caller);
    expect_not_charged(caller, HasSubstr("it is not signed"));
}

TEST_F(who_failed, a_peers_clock_is_not_the_message_and_is_named) {
    static constexpr wall_time noon{1'900'000'000'000ms};
    auto taking = greeter();
    taking.wall_clock = [] { return noon + 10min; };
    node receiver(taking);
    receiver.handle("Greet", [](context&, const message&) {});
    receiver.start();
    auto sending = caller_to(receiver.addresses().at(0));
    sending.wall_clock = [] { return noon; };
    node caller(sending);
    try_once(caller);
    expect_not_charged(caller, HasSubstr("caller's clock is 600 s behind the other side's"));
}

TEST_F(who_failed, a_key_that_one_side_has_not_is_not_the_message_and_is_named) {
    auto taking = greeter();
    taking.secrets["caller"] = {other_key_text};
    expect_not_charged_by(taking, "the key that caller signs with is unknown");
    EXPECT_THAT(said_by_receiver,
                ElementsAre(HasSubstr("requests in the name of 'caller' do not pass the check")));
}

TEST_F(who_failed, a_peer_that_does_not_know_the_sender_is_not_the_message) {
    auto taking = greeter();
    taking.secrets.clear();
    taking.secrets["another"] = {key_text};
    expect_not_charged_by(taking, "does not count");
    // A stranger may call itself anything, and changes no light by that.
    EXPECT_THAT(said_by_receiver, IsEmpty());
}

TEST_F(who_failed, a_web_service_behind_a_handler_is_not_the_message) {
    for (const int status : {0, 503, 502}) {
        const auto number = std::to_string(status);
        const auto answer = status == 0 ? std::string() : unsigned_answer(status);
        const parrot service(answer);
        std::ofstream(directory.file("n.toml"))
            << "[service]\nid = \"greeter\"\n[store]\nurl = \"sqlite:g" + number +
                   ".db\"\n[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"\"\n[secrets]\ncaller = \""
            << key_text << "\"\n[handlers]\nGreet = \"" << service.url() << "/greet\"\n";
        auto taking = load(directory.file("n.toml"));
        taking.options.log_sink = [](std::string_view) {};
        node receiver(taking);
        receiver.start();
        auto sending = caller_to(receiver.addresses().at(0));
        sending.store.database = path("caller" + number);
        node caller(sending);
        try_once(caller);
        expect_not_charged(caller, HasSubstr("handler_unreachable: "));
        EXPECT_THAT(receiver.health().reasons,
                    Contains(HasSubstr("the service behind endpoint 'Greet' does not answer")));
    }
}

TEST_F(who_failed, a_web_service_that_fails_is_named_as_what_it_is) {
    const parrot service(unsigned_answer(500));
    std::ofstream(directory.file("n.toml"))
        << "[service]\nid = \"greeter\"\n[store]\nurl = \"sqlite:g.db\"\n[listen]\nhttp = "
           "\"127.0.0.1:0\"\nadmin = \"\"\n[secrets]\ncaller = \""
        << key_text << "\"\n[handlers]\nGreet = \"" << service.url() << "/greet\"\n";
    auto taking = load(directory.file("n.toml"));
    taking.options.log_sink = [](std::string_view) {};
    node receiver(taking);
    receiver.start();
    node caller(caller_to(receiver.addresses().at(0)));
    try_once(caller);
    expect_charged(caller,
                   AllOf(HasSubstr("the handler answered 500"), Not(HasSubstr("unreachable"))));
}

TEST_F(who_failed, what_a_web_service_says_is_kept_for_those_who_may_read_payloads) {
    const parrot service(unsigned_answer(422, R"({"error":"no such sku"})"));
    std::ofstream(directory.file("n.toml"))
        << "[service]\nid = \"greeter\"\n[store]\nurl = \"sqlite:g.db\"\n[listen]\nhttp = "
           "\"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n[secrets]\ncaller = \""
        << key_text << "\"\n[handlers]\nGreet = \"" << service.url()
        << "/greet\"\n[admin]\nkeys = [{ name = \"ann\", role = \"operator\", hash = \"sha256:"
           "04e24b9ae0a068539ba0ef25847145d4dfe82c83e99462cbe832bd89b5f13a15\", payloads = true "
           "},\n"
           "{ name = \"bob\", role = \"operator\", hash = \"sha256:"
           "8eea8ecc62988173ed24bde098420e66658b94c0138b1fb86dd46f9093115651\" }]\n";
    auto taking = load(directory.file("n.toml"));
    log_lines lines;
    taking.options.log_sink = [&](std::string_view line) { lines.add(line); };
    node receiver(taking);
    receiver.start();
    const auto at = receiver.addresses();
    node caller(caller_to(at.at(0)));
    try_once(caller);
    expect_charged(caller, AllOf(HasSubstr("422"), Not(HasSubstr("sku"))));
    const auto ask = [&](char key) {
        const auto port =
            static_cast<std::uint16_t>(std::stoi(at.at(1).substr(at.at(1).rfind(':') + 1)));
        test::raw_http admin(port);
        admin.send("GET /_rf/inbox/refused HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                   "\r\nAuthorization: Bearer phk_" + std::string(43, key) + "\r\n\r\n");
        return admin.receive();
    };
    EXPECT_THAT(ask('A').body, HasSubstr("no such sku"));
    const auto without = ask('B');
    EXPECT_EQ(without.status, 403);
    EXPECT_THAT(without.body, Not(HasSubstr("sku")));
    EXPECT_THAT(lines.all(), Not(Contains(HasSubstr("sku"))));
}

TEST_F(who_failed, a_handler_that_is_missing_is_not_the_message) {
    node receiver(greeter());
    receiver.start();
    node caller(caller_to(receiver.addresses().at(0)));
    try_once(caller);
    expect_not_charged(caller, HasSubstr("no_handler: "));
    EXPECT_EQ(receiver.health().level, health_level::yellow);
    EXPECT_THAT(
        receiver.health().reasons,
        Contains(AllOf(HasSubstr("messages of 'caller' for endpoint 'Greet' are refused (once"),
                       HasSubstr("it has no handler here"))));
}

TEST_F(who_failed, what_a_handler_throws_is_charged) {
    node receiver(greeter());
    receiver.handle("Greet", [](context&, const message&) { throw std::runtime_error("not now"); });
    receiver.start();
    node caller(caller_to(receiver.addresses().at(0)));
    try_once(caller);
    expect_charged(caller, HasSubstr("not now"));
}

TEST_F(who_failed, a_handler_that_only_fails_is_told_of_until_it_succeeds) {
    node receiver(greeter());
    std::atomic<bool> works = false;
    receiver.handle("Greet", [&](context&, const message&) {
        if (!works) throw permanent("never");
    });
    receiver.start();
    node caller(caller_to(receiver.addresses().at(0)));
    caller.start();
    const auto send = [&](int dead_then) {
        caller.send("greeter", "Greet", "{}");
        ASSERT_TRUE(test::eventually([&] { return caller.stats().dead == dead_then; }));
    };
    send(1);
    send(2);
    EXPECT_THAT(receiver.health().reasons, IsEmpty());
    send(3);
    EXPECT_THAT(receiver.health().reasons,
                ElementsAre(HasSubstr("the handler of endpoint 'Greet' fails (3 times since")));
    works = true;
    caller.send("greeter", "Greet", "{}");
    ASSERT_TRUE(test::eventually([&] { return caller.stats().sent == 1; }));
    EXPECT_THAT(receiver.health().reasons, IsEmpty());
}

TEST_F(who_failed, what_a_handler_refuses_for_ever_is_charged) {
    node receiver(greeter());
    receiver.handle("Greet", [](context&, const message&) { throw permanent("never"); });
    receiver.start();
    node caller(caller_to(receiver.addresses().at(0)));
    try_once(caller);
    expect_charged(caller, HasSubstr("never"));
}

TEST_F(who_failed, a_peer_of_an_older_scheme_that_is_not_there_is_not_the_message) {
    const parrot closes("");
    for (const auto* const scheme : {"rf-hmac", "x-workflow"}) {
        auto sending = caller_to(closes.url());
        sending.store.database = path(scheme);
        sending.signatures["greeter"] = scheme;
        node caller(sending);
        try_once(caller);
        expect_not_charged(caller, HasSubstr("unreachable: "));
    }
}

TEST_F(who_failed, the_status_of_a_peer_of_an_older_scheme_counts) {
    for (const auto* const scheme : {"rf-hmac", "x-workflow"})
        for (const int status : {400, 422, 500, 502}) {
            SCOPED_TRACE(std::string(scheme) + " " + std::to_string(status));
            const parrot peer(unsigned_answer(status));
            auto sending = caller_to(peer.url());
            sending.store.database = path(scheme + std::to_string(status));
            sending.signatures["greeter"] = scheme;
            node caller(sending);
            try_once(caller);
            expect_charged(caller, HasSubstr("answered with status " + std::to_string(status)));
        }
}

}  // namespace
}  // namespace posthorn::integration
