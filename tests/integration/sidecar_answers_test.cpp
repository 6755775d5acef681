// What a service without C++ is told of the Commands that it sends: an answer to each, or that it was
// given up; and how its workers take jobs and answer.
#include <csignal>
#include <future>

#include "sidecar_fixture.hpp"

namespace posthorn::integration {
namespace {

using test::ask;
using testing::AllOf;
using testing::HasSubstr;

/// Two services on one machine that reach each other over sockets.
class answering_sidecars : public testing::Test {
protected:
    answering_sidecars() {
        test::sqlite_file(folder_.file("stock.db"), test::sqlite_file::make)
            .run("CREATE TABLE reserved (item TEXT)");
        test::sqlite_file(folder_.file("orders.db"), test::sqlite_file::make)
            .run("CREATE TABLE answers (command TEXT, said TEXT)");
        const auto hash = test::run_process(
            {"/bin/sh", "-c", "printf worker-key | sha256sum | cut -c1-64 | tr -d '\\n'"});
        keys_ =
            "[admin]\nkeys = [{ name = \"w\", role = \"operator\", hash = \"sha256:" + hash.out +
            "\" }]\n";
    }
    /// The first of the two lines that it prints names the admin listener.
    [[nodiscard]] std::unique_ptr<sidecar> start(const std::string& id, const std::string& peer,
                                                 const std::string& more) {
        return std::make_unique<sidecar>(
            folder_, id,
            "[listen]\nhttp = \"\"\nadmin = \"127.0.0.1:0\"\nunix = \"run/" + id + ".sock\"\n" +
                keys_ + secret_with(peer) + "[routes]\ndefault = \"unix://" +
                folder_.path().string() + "/run/{service}.sock\"\n" + more);
    }
    static void command(const sidecar& from, const std::string& endpoint,
                        const std::string& payload = "{}") {
        from.database().run(
            "INSERT INTO outbox_messages (message_type, destination, endpoint, payload,"
            " correlation_id) VALUES ('Command', 'stock', '" +
            endpoint + "', '" + payload + "', 'c-" + endpoint + "')");
    }
    static std::string request(const std::string& path, const std::string& body) {
        return "POST " + path +
               " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer worker-key\r\nContent-Type: "
               "application/json\r\nConnection: close\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    static test::raw_response post(const sidecar& to, const std::string& path,
                                   const std::string& body) {
        return ask(static_cast<std::uint16_t>(std::stoi(to.port(0))), request(path, body));
    }
    static test::raw_response get(const sidecar& to, const std::string& path) {
        return ask(static_cast<std::uint16_t>(std::stoi(to.port(0))),
                   "GET " + path +
                       " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                       "worker-key\r\nConnection: close\r\n\r\n");
    }

    test::temporary_directory folder_;
    std::string keys_;
};

constexpr auto noting =
    " = \"sql:INSERT INTO answers VALUES (:_correlation_id, json_quote(:_payload))\"\n";

TEST_F(answering_sidecars, every_command_is_answered_whatever_takes_it) {
    test::raw_listener service;
    const auto stock = start("stock", "orders",
                             "[handlers]\nReserve = \"sql:INSERT INTO reserved VALUES ('nail')\"\n"
                             "Find = \"sql:SELECT item FROM reserved WHERE item = 'moon'\"\n"
                             "Charge = \"http://127.0.0.1:" +
                                 std::to_string(service.port()) +
                                 "/charge\"\nShip = \"queue\"\nPick = \"queue\"\n");
    std::string responses = "[responses]\n";
    for (const std::string each : {"Reserve", "Find", "Charge", "Ship", "Pick"})
        responses += each + noting;
    const auto orders = start("orders", "stock", responses);
    for (const auto* each : {"Reserve", "Find", "Charge", "Ship", "Pick"}) command(*orders, each);

    const auto call = service.accept();
    EXPECT_EQ(call->receive().body, "{}");
    call->send("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(orders->comes_to("SELECT count(*) FROM answers", 3));
    ASSERT_TRUE(stock->comes_to("SELECT count(*) FROM posthorn_queue", 2));
    EXPECT_THAT(post(*stock, "/_rf/queue/Ship/take", R"({"owner":"w1"})").body,
                HasSubstr(R"("correlationId":"c-Ship")"));
    const auto seq = stock->database().text("SELECT seq FROM posthorn_queue WHERE endpoint='Ship'");
    EXPECT_EQ(post(*stock, "/_rf/queue/ack",
                   R"({"owner":"w1","seqs":[)" + seq + R"(],"response":{"on":"ship"}})")
                  .body,
              R"({"count":1})");
    stock->database().run("DELETE FROM posthorn_queue WHERE endpoint = 'Pick'");
    EXPECT_TRUE(orders->comes_to("SELECT count(*) FROM answers", 5));
    EXPECT_EQ(orders->database().lines("SELECT command || ' ' || said FROM answers ORDER BY 1"),
              "c-Charge \"null\"\nc-Find \"null\"\nc-Pick \"null\"\nc-Reserve \"null\"\n"
              "c-Ship \"{\\\"on\\\":\\\"ship\\\"}\"\n");
    orders->stop();
    stock->stop();
}

TEST_F(answering_sidecars, a_command_that_is_given_up_is_told_once_by_configuration) {
    const auto stock = start("stock", "orders",
                             "[handlers]\nReserve = \"sql:INSERT INTO reserved VALUES (:item)\"\n");
    const auto orders = start(
        "orders", "stock",
        "orders = \"inprocess:\"\n[outbox]\non_dead = \"\"\"sql:INSERT INTO answers VALUES "
        "(:_correlation_id || ' ' ||"
        " :orderId, :_error);\n"
        "INSERT INTO outbox_messages (destination, endpoint, payload)"
        " VALUES ('orders', 'Failed', json_object('order', :orderId, 'missing', :gift))\"\"\"\n"
        "[handlers]\nFailed = \"sql:INSERT INTO answers VALUES ('sent', :_payload)\"\n");
    command(*orders, "Reserve", R"({"orderId":"o1"})");  // Without an item.
    ASSERT_TRUE(orders->comes_to("SELECT count(*) FROM outbox_messages WHERE status = 'Dead'", 1));
    ASSERT_TRUE(orders->comes_to("SELECT count(*) FROM answers", 2));
    EXPECT_THAT(orders->database().lines("SELECT command || ': ' || said FROM answers ORDER BY 1"),
                AllOf(HasSubstr("c-Reserve o1: "), HasSubstr("has no field 'item'"),
                      HasSubstr(R"(sent: {"order":"o1","missing":null})")));
    // The same after a restart.
    orders->stop();
    const auto again = start("orders", "stock",
                             "[outbox]\non_dead = \"sql:INSERT INTO answers VALUES ('x', 'x')\"\n");
    command(*again, "Reserve", R"({"orderId":"o2"})");
    EXPECT_TRUE(again->comes_to("SELECT count(*) FROM answers WHERE command = 'x'", 1));
    EXPECT_EQ(again->database().integer("SELECT count(*) FROM answers"), 3);
    again->stop();
    stock->stop();
}

TEST_F(answering_sidecars, refuse_a_hook_that_is_not_sql) {
    std::ofstream(folder_.file("bad.toml"))
        << "[service]\nid = \"orders\"\n[store]\nurl = \"sqlite:orders.db\"\n[outbox]\n"
           "on_dead = \"sql:INSRT INTO answers\"\n";
    const auto refused =
        test::run_process({POSTHORN_PROGRAM, "serve", "--config", folder_.file("bad.toml")});
    EXPECT_EQ(refused.end, exit_2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("bad.toml:6: outbox.on_dead: the database says"),
                                   HasSubstr("INSRT")));
}

TEST_F(answering_sidecars,
       a_worker_that_waits_gets_its_job_unless_it_was_killed_and_is_let_go_at_a_stop) {
    const auto stock = start("stock", "orders", "[handlers]\nShip = \"queue\"\n");
    const auto orders = start("orders", "stock", "");
    const auto wait = [&] {
        return std::async(std::launch::async, [&] {
            return post(*stock, "/_rf/queue/Ship/take", R"({"owner":"w1","waitMs":60000})");
        });
    };
    auto first = wait();
    orders->send("stock", "Ship", R"({"to":"moon"})");
    EXPECT_THAT(first.get().body, HasSubstr(R"("payload":{"to":"moon"})"));

    // Behind another request on its connection, so that the answer to that shows that it is there.
    const std::string pipelined =
        "GET /_rf/queue HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer worker-key\r\n\r\n" +
        request("/_rf/queue/Ship/take", R"({"owner":"w1","waitMs":60000})");
    const auto port = static_cast<std::uint16_t>(std::stoi(stock->port(0)));
    {
        test::raw_http killed(port);
        killed.send(pipelined);
        EXPECT_EQ(killed.receive().status, 200);
    }
    orders->send("stock", "Ship", R"({"to":"mars"})");
    ASSERT_TRUE(stock->comes_to("SELECT count(*) FROM posthorn_queue", 2));
    EXPECT_THAT(post(*stock, "/_rf/queue/Ship/take", R"({"owner":"w2","waitMs":60000})").body,
                HasSubstr(R"("payload":{"to":"mars"})"));

    test::raw_http waiting(port);
    waiting.send(pipelined);
    EXPECT_THAT(waiting.receive().body, HasSubstr(R"("taken":2)"));
    stock->child().send_signal(SIGTERM);
    const auto let_go = waiting.receive();
    EXPECT_EQ(let_go.status, 200);
    EXPECT_EQ(let_go.body, R"({"messages":[]})");
    EXPECT_EQ(stock->child().wait(), exit_0);
    orders->stop();
}

TEST_F(answering_sidecars, what_is_queued_and_what_was_given_up_is_seen_wherever_one_looks) {
    const auto stock = start("stock", "orders",
                             "[handlers]\nShip = \"queue\"\n[queue]\nmax_attempts = 1\n"
                             "alarm_after = \"1ms\"\n");
    const auto orders = start("orders", "stock", "");
    for (int i = 0; i < 3; ++i) orders->send("stock", "Ship", R"({"to":"moon"})");
    ASSERT_TRUE(stock->comes_to("SELECT count(*) FROM posthorn_queue", 3));
    post(*stock, "/_rf/queue/Ship/take", R"({"owner":"w1"})");
    EXPECT_EQ(
        post(*stock, "/_rf/queue/release", R"({"owner":"w1","seqs":[1],"error":"no such moon"})")
            .body,
        R"({"count":1})");
    EXPECT_TRUE(stock->says("Job 1 of Ship given up after 1 attempts: no such moon"));

    EXPECT_THAT(get(*stock, "/metrics").body,
                AllOf(HasSubstr("posthorn_queue_waiting{queue=\"Ship\"} 2"),
                      HasSubstr("posthorn_queue_given_up{queue=\"Ship\"} 1")));
    EXPECT_TRUE(test::eventually([&] {  // It looks once a second.
        const auto health = get(*stock, "/_rf/health").body;
        return health.find("a job of the queue 'Ship' was given up") != std::string::npos &&
               health.find("2 jobs wait in the queue 'Ship'") != std::string::npos &&
               health.find(R"("status":"red")") != std::string::npos;
    }));

    const auto program = [&](std::vector<std::string> words) {
        words.insert(words.begin(), POSTHORN_PROGRAM);
        words.insert(words.end(), {"--config", folder_.file("stock.toml")});
        const auto done = test::run_process(words);
        return done.out + done.err;
    };
    EXPECT_THAT(program({"stats"}), AllOf(HasSubstr("queue\n"), HasSubstr("GIVEN UP")));
    EXPECT_THAT(program({"stats", "--json"}), HasSubstr(R"("givenUp":1)"));
    EXPECT_THAT(program({"health"}), HasSubstr("a job of the queue 'Ship' was given up"));
    EXPECT_THAT(program({"doctor"}), HasSubstr("warn  queues           1 of 3 jobs was given up"));
    EXPECT_THAT(program({"queue", "list", "--state", "given-up"}), HasSubstr("no such moon"));
    EXPECT_THAT(program({"queue", "show", "1", "--json"}), HasSubstr(R"("state":"given-up")"));
    EXPECT_THAT(program({"queue", "retry", "1"}), HasSubstr("waiting"));
    EXPECT_THAT(program({"queue", "list", "--json"}), HasSubstr(R"("seq":1,"state":"waiting")"));
    EXPECT_THAT(program({"queue", "finish", "1"}), HasSubstr("finished"));
    EXPECT_THAT(program({"queue", "show", "1"}), HasSubstr("there is no job 1"));
    EXPECT_EQ(stock->database().integer("SELECT count(*) FROM posthorn_queue"), 2);
    orders->stop();
    stock->stop();
}

}  // namespace
}  // namespace posthorn::integration
