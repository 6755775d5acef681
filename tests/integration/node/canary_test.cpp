// Payloads and keys are seen by nobody who is not to see them: two nodes exchange messages that
// carry a canary through every outcome there is, and all that they say is searched for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/contract.hpp>
#include <posthorn/error.hpp>

#include "admin/admin_api.hpp"
#include "app/node/node_core.hpp"
#include "base/async/io_threads.hpp"
#include "base/text/base64.hpp"
#include "inbox/configured/http_handler.hpp"
#include "inbox/configured/sql_handler.hpp"
#include "support/eventually.hpp"
#include "support/order_contract.hpp"
#include "support/temporary_directory.hpp"
#include "transport/wire/wire_server.hpp"
#include "transport/wire/wire_transport.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string canary = "canary-7f3a9c";
const std::string payload = R"({"sku":")" + canary + R"(","quantity":")" + canary + R"("})";

const std::string secret_text = "canary-secret-51d0-51d0-51d0-51d0";

signing_key key_of(std::string_view text) {
    return make_key(secret(std::as_bytes(std::span(text))));
}

peer_keys::rings rings_of(const std::string& peer, std::string_view text) {
    return {{peer, std::make_shared<const key_ring>(std::vector{key_of(text)})}};
}

/// Goes to a wire server by a call, and keeps what that replies.
class direct_channel final : public wire_channel {
public:
    direct_channel(wire_server& to, std::vector<std::string>& replies)
        : to_(to), replies_(replies) {}

    task<result<wire_reply>> exchange(wire_request request) override {
        auto reply = co_await to_.answer(std::move(request));
        replies_.push_back(reply.body + reply.signature.key + reply.signature.hmac);
        co_return reply;
    }

private:
    wire_server& to_;
    std::vector<std::string>& replies_;
};

/// Two nodes over real seams in one hub, the admin routes of the first, and all their log lines.
class two_nodes {
public:
    two_nodes() {
        orders_ = open("orders", orders_writer_);
        billing_ = open("billing", billing_writer_);
        add_handlers(billing_->registry());
        for (auto* one : {billing_.get(), orders_.get()})
            value_or_throw(posthorn::start(network_.executor(), one->start()).get());
        view_.emplace(node_view_deps{.service = "orders",
                                     .version = "1",
                                     .stores = {&orders_->store()},
                                     .readers = readers_,
                                     .time = clock_,
                                     .counters = {&orders_->dispatcher().counters()},
                                     .inbox = [this] { return orders_->inbox(); },
                                     .wake = [this] { orders_->dispatcher().wake(); }});
        audit_.emplace(orders_->store(), clock_, log_);
        gate_.emplace(access_, *audit_);
        admin_surface surface(routes_, *gate_);
        add_admin_routes(surface, *view_);
        add_public_routes(public_routes_, *view_);
    }
    ~two_nodes() {
        for (auto* one : {orders_.get(), billing_.get()}) {
            posthorn::start(network_.executor(), one->stop()).get();
            one->stop_stores();
        }
    }

    uuid send(const std::string& destination, const std::string& endpoint,
              send_options options = {}) {
        uuid id;
        orders_->run([&](transaction& tx) {
            id = tx.send(destination, endpoint, payload, with_canary(std::move(options)));
        });
        return id;
    }
    /// Waits until the last error of the message, or its status, is as asked for.
    bool comes_to(const uuid& id, const std::string& condition) {
        return test::eventually([&] {
            return text("SELECT count(*) FROM outbox_messages WHERE message_id = '" +
                        id.to_string() + "' AND " + condition) == "1";
        });
    }
    std::string text(const std::string& sql) {
        std::string found;
        value_or_throw(orders_->store().read([&](store_reader& from) {
            return from.query(sql, {}, [&](const sql_row& row) {
                for (std::size_t i = 0; i < row.size(); ++i) found += row.text(i);
            });
        }));
        return found;
    }
    std::string ask(const router& routes, const std::string& method, const std::string& target,
                    const std::string& key) {
        http_request request;
        request.method = method;
        const auto parts = split_target(target);
        request.path = parts->path;
        request.query = parts->query;
        request.headers.add("Authorization", "Bearer " + key);
        const auto response =
            posthorn::start(network_.executor(), routes.handle(std::move(request))).get();
        return std::to_string(response.status) + " " + response.body;
    }
    std::string ask(const std::string& target, const std::string& key) {
        return ask(routes_, "GET", target, key);
    }
    delivery receive_again(message what) {
        return posthorn::start(network_.executor(), again(std::move(what))).get();
    }
    /// Sends over the wire, each side with the secret that it has; gives all that was replied and
    /// what the sender would store as the error.
    std::vector<std::string> over_the_wire(const message& what, std::string_view senders,
                                           std::string_view receivers) {
        std::vector<std::string> said;
        const peer_keys sending(senders.empty() ? peer_keys::rings{}
                                                : rings_of("billing", senders));
        const peer_keys receiving(rings_of("orders", receivers));
        wire_server server({*billing_->inbox(), receiving, clock_, log_}, {.service = "billing"});
        wire_transport wire(std::make_unique<direct_channel>(server, said), sending, clock_,
                            {.source = "orders", .destination = "billing"});
        const auto answers = posthorn::start(network_.executor(), wire.deliver({&what})).get();
        said.push_back(answers.at(0).error);
        return said;
    }
    std::vector<std::string> lines() {
        const std::scoped_lock lock(mutex_);
        return lines_;
    }
    const router& admin() const { return routes_; }
    const router& strangers() const { return public_routes_; }

    seeded_random keys_from{5};
    new_admin_key viewer = make_admin_key(keys_from);
    new_admin_key reader = make_admin_key(keys_from);

private:
    static send_options with_canary(send_options options) {
        options.headers = R"({"x-secret":")" + canary + R"("})";
        return options;
    }
    task<delivery> again(message what) {
        co_return (co_await billing_->inbox()->receive({&what})).at(0);
    }

    std::unique_ptr<node_core> open(const std::string& service, executor& writer) {
        core_options options{.database = {.path = folder_.file(service + ".db"),
                                          .service = service,
                                          .above = {audit_tables()}},
                             .sending = {.source = service, .max_retries = 1},
                             .retries = retry_policy(
                                 exponential_backoff{.base = 1ms, .max = 2ms, .jitter_max = 1ms}),
                             .routes = {{"billing", "inprocess:"}, {"absent", "inprocess:"}},
                             .watch_commits = false};
        return value_or_throw(node_core::open(
            std::move(options),
            {{clock_, timer_, random_, log_, network_.executor(), readers_, workers_},
             writer,
             hub_}));
    }

    static task<result<http_response>> complain(web_call call) {
        co_return http_response{.status = 422, .headers = {}, .body = "not known: " + call.body};
    }

    void add_handlers(handlers& into) {
        const auto add = [&](std::string endpoint, transactional_handler run) {
            value_or_throw(into.add(std::move(endpoint), {.run = std::move(run)}));
        };
        add("Take", [](context&, const message& m) { return m.payload; });
        add("Throw", [](context&, const message&) -> std::string {
            throw std::runtime_error("the printer is out of paper");
        });
        add("Bury",
            [](context&, const message&) -> std::string { throw permanent("no such order"); });
        add("Decode", [](context&, const message& m) -> std::string {
            return std::to_string(detail::decode_received<shop::line>(m.payload).quantity);
        });
        add("Break", [](context& c, const message& m) -> std::string {
            c.execute("CREATE TABLE IF NOT EXISTS once (what TEXT PRIMARY KEY)");
            c.execute("INSERT INTO once VALUES (?)", m.payload);
            c.execute("INSERT INTO once VALUES (?)", m.payload);
            return {};
        });
        add("Sql",
            make_sql_handler(parse_sql_script("SELECT json_extract('{}', :sku)").value(), clock_));
        value_or_throw(
            into.add("Web", {.run = make_http_handler({.url = "http://local"}, &complain)}));
    }

    test::temporary_directory folder_;
    real_clock clock_;
    real_timer timer_;
    system_random random_;
    std::mutex mutex_;
    std::vector<std::string> lines_;
    logger log_{{.level = log_level::trace,
                 .format = log_format::json,
                 .sink =
                     [this](std::string_view line) {
                         const std::scoped_lock lock(mutex_);
                         lines_.emplace_back(line);
                     }},
                [this] { return clock_.wall(); }};
    inprocess_hub hub_;
    worker_threads orders_writer_{"write"};
    worker_threads billing_writer_{"write"};
    worker_threads readers_{"read", 2};
    worker_threads workers_{"work", 2};
    io_threads network_{"io"};
    std::unique_ptr<node_core> orders_;
    std::unique_ptr<node_core> billing_;
    admin_access access_{
        {.loopback = true,
         .keys = {
             {"wall", admin_role::viewer, *parse_key_hash(viewer.hash)},
             {"reader", admin_role::operator_, *parse_key_hash(reader.hash), {.payloads = true}}}}};
    std::optional<node_view> view_;
    std::optional<audit> audit_;
    std::optional<key_gate> gate_;
    router routes_;
    router public_routes_;
};

TEST(canary, no_payload_or_secret_is_in_a_log_a_metric_an_error_or_an_answer) {
    two_nodes nodes;
    std::vector<uuid> all;
    const auto send = [&](const std::string& to, const std::string& endpoint,
                          const std::string& until, send_options options = {}) {
        all.push_back(nodes.send(to, endpoint, std::move(options)));
        EXPECT_TRUE(nodes.comes_to(all.back(), until)) << endpoint;
        return all.back();
    };
    const auto taken = send("billing", "Take", "status = 'Sent'");
    send("billing", "Throw", "status = 'Dead'");
    send("billing", "Bury", "status = 'Dead'");
    send("billing", "Decode", "status = 'Dead'");
    send("billing", "Break", "status = 'Dead'");
    send("billing", "Sql", "status = 'Dead' AND last_error LIKE '%JSON path%'");
    send("billing", "Web", "status = 'Dead' AND last_error LIKE '%answered 422 with%'");
    send("billing", "NoSuchHandler", "last_error LIKE 'no_handler%'");
    send("nowhere", "Take", "last_error LIKE 'no route%'");
    send("absent", "Take", "last_error IS NOT NULL");
    // Nobody takes this one: a receiver could find it expired first, and then it is dead.
    send("absent", "Take", "status = 'Expired'",
         {.max_retries = retry_for_ever, .expires_in = 50ms});

    message again;
    again.id = taken;
    again.source = "orders";
    again.destination = "billing";
    again.endpoint = "Take";
    again.payload = payload;
    again.expires_at = real_clock().wall() + 24h;
    again.headers = R"({"x-secret":")" + canary + R"("})";
    (void)nodes.receive_again(again);
    again.payload = R"({"other":")" + canary + R"("})";
    const auto conflict = nodes.receive_again(again);
    EXPECT_EQ(conflict.code, error_code::id_reused);

    std::vector<std::string> said;
    const std::string other_secret = "another-secret-77aa-77aa-77aa-77aa";
    again.payload = payload;
    for (const auto& [senders, receivers] :
         {std::pair{secret_text, secret_text}, std::pair{secret_text, other_secret},
          std::pair{other_secret, secret_text}, std::pair{std::string(), secret_text}}) {
        for (auto& text : nodes.over_the_wire(again, senders, receivers))
            said.push_back(std::move(text));
    }
    said.push_back(conflict.error);
    for (const auto& target : {"/_rf/health", "/metrics", "/_rf/outbox/stats", "/_rf/outbox",
                               "/_rf/outbox/failed", "/_rf/inbox/stats", "/_rf/inbox"})
        said.push_back(nodes.ask(target, nodes.viewer.key));
    for (const auto& id : all) {
        said.push_back(nodes.ask("/_rf/outbox/" + id.to_string(), nodes.viewer.key));
        EXPECT_THAT(said.back(), HasSubstr("200 "));
        said.push_back(
            nodes.ask("/_rf/outbox/" + id.to_string() + "?payload=true", nodes.viewer.key));
        EXPECT_THAT(said.back(), HasSubstr("403 "));
    }
    said.push_back(nodes.ask("/metrics", nodes.reader.key + "wrong"));
    said.push_back(nodes.ask(nodes.admin(), "POST", "/_rf/outbox/" + all[1].to_string() + "/retry",
                             nodes.reader.key));
    EXPECT_THAT(said.back(), HasSubstr("200 "));
    said.push_back(nodes.ask(nodes.strangers(), "GET", "/_rf/health", ""));
    said.push_back(nodes.text("SELECT coalesce(last_error, '') FROM outbox_messages"));
    said.push_back(nodes.text("SELECT error FROM outbox_attempts"));
    said.push_back(nodes.text("SELECT who, what, target, outcome FROM posthorn_audit"));
    for (auto& line : nodes.lines()) said.push_back(std::move(line));

    ASSERT_GT(said.size(), 50U);
    EXPECT_THAT(said, testing::Contains(HasSubstr("HMAC verification failed")));
    const auto encoded = encode_base64(secret_text);
    for (std::size_t i = 0; i < said.size(); ++i) {
        const auto& text = said[i];
        // The first reply goes to the sender, over the wire, with the payload that it waits for.
        if (i > 0) EXPECT_EQ(text.find(canary), std::string::npos) << text;
        EXPECT_EQ(text.find(secret_text), std::string::npos) << text;
        EXPECT_EQ(text.find(encoded.substr(0, 20)), std::string::npos) << text;
        EXPECT_EQ(text.find(nodes.viewer.key), std::string::npos) << text;
        EXPECT_EQ(text.find(nodes.reader.key), std::string::npos) << text;
    }
    // What is searched for does go through there: with the right, it is to be seen.
    EXPECT_THAT(nodes.ask("/_rf/outbox/" + taken.to_string() + "?payload=true", nodes.reader.key),
                HasSubstr(canary));
}

}  // namespace
}  // namespace posthorn::integration
