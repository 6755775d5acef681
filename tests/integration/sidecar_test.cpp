// Services without C++: each has a database and a sidecar, and says by configuration what it does.
#include <csignal>

#include "sidecar_fixture.hpp"
#include "transport/grpc/grpc_server.hpp"

namespace posthorn::integration {
namespace {

using test::ask;
using testing::HasSubstr;
using testing::StartsWith;

constexpr auto stock_handlers =
    "[handlers]\nReserve = \"sql:INSERT INTO reserved VALUES (:item, :count)\"\n"
    "Ship = \"queue\"\n";

/// Where a stock service lies, whose table is there before anything comes.
class sidecars : public testing::Test {
protected:
    sidecars() {
        test::sqlite_file stock(folder_.file("stock.db"), test::sqlite_file::make);
        stock.run("CREATE TABLE reserved (item TEXT, count INTEGER)");
    }

    test::temporary_directory folder_;
};

TEST_F(sidecars, exchange_messages_over_http_by_configuration_alone) {
    sidecar stock(folder_, "stock", free_ports + secret_with("orders") + stock_handlers);
    sidecar orders(folder_, "orders",
                   free_ports + secret_with("stock") +
                       "[routes]\nstock = \"http://127.0.0.1:" + stock.port() + "\"\n");
    orders.send("stock", "Reserve", R"({"item":"nail","count":3})");
    EXPECT_TRUE(orders.comes_to("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'", 1));
    EXPECT_EQ(stock.database().text("SELECT item || count FROM reserved"), "nail3");
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, exchange_messages_over_a_unix_socket) {
    sidecar stock(folder_, "stock",
                  "[listen]\nhttp = \"\"\nadmin = \"\"\nunix = \"run/stock.sock\"\n" +
                      secret_with("orders") + stock_handlers,
                  {}, 1);
    const auto socket = (folder_.path() / "run/stock.sock").string();
    EXPECT_EQ(stock.line(0), "posthorn: listening on unix://" + socket);
    sidecar orders(folder_, "orders",
                   free_ports + secret_with("stock") + "[routes]\ndefault = \"unix://" +
                       folder_.path().string() + "/run/{service}.sock\"\n");
    orders.send("stock", "Reserve", R"({"item":"nut","count":4})");
    EXPECT_TRUE(stock.comes_to("SELECT count(*) FROM reserved WHERE item = 'nut'", 1));
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, exchange_messages_over_a_named_pipe) {
    const auto folder = folder_.path().string();
    const test::process_options where{.environment = {{"TMPDIR", folder}}};
    sidecar stock(folder_, "stock",
                  "[listen]\nhttp = \"\"\nadmin = \"\"\npipe = \"rf-{service}\"\n" +
                      secret_with("orders") + stock_handlers,
                  where, 1);
    EXPECT_EQ(stock.line(0), "posthorn: listening on pipe://rf-stock");
    struct stat socket{};
    ASSERT_EQ(::stat((folder + "/CoreFxPipe_rf-stock").c_str(), &socket), 0);
    EXPECT_EQ(socket.st_mode & 07777U, 0600U);
    sidecar orders(
        folder_, "orders",
        free_ports + secret_with("stock") + "[routes]\ndefault = \"pipe://rf-{service}\"\n", where);
    orders.send("stock", "Reserve", R"({"item":"hat","count":4})");
    EXPECT_TRUE(stock.comes_to("SELECT count(*) FROM reserved WHERE item = 'hat'", 1));
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, exchange_messages_over_grpc) {
    if (!has_grpc()) GTEST_SKIP() << "built without gRPC";
    sidecar stock(folder_, "stock",
                  "[listen]\nhttp = \"\"\nadmin = \"\"\ngrpc = \"127.0.0.1:0\"\n" +
                      secret_with("orders") + stock_handlers,
                  {}, 1);
    const auto said = stock.line(0);
    ASSERT_THAT(said, StartsWith("posthorn: listening on grpc://127.0.0.1:"));
    sidecar orders(folder_, "orders",
                   free_ports + secret_with("stock") + "[routes]\nstock = \"" +
                       said.substr(said.rfind(' ') + 1) + "/RFReceiver/Receive\"\n");
    orders.send("stock", "Reserve", R"({"item":"hat","count":4})");
    EXPECT_TRUE(stock.comes_to("SELECT count(*) FROM reserved WHERE item = 'hat'", 1));
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, exchange_messages_over_tls) {
    const auto made = test::run_process(
        {"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=stock", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", folder_.file("key.pem"), "-out", folder_.file("cert.pem")});
    ASSERT_EQ(made.end, exit_0) << made.err;
    const std::string tls = "[tls]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
    sidecar stock(folder_, "stock", free_ports + tls + secret_with("orders") + stock_handlers);
    EXPECT_THAT(stock.line(0), HasSubstr("https://127.0.0.1:"));
    const auto at = stock.line(0).find("https://");
    const auto url = stock.line(0).substr(at, stock.line(0).find(' ', at) - at);
    sidecar orders(folder_, "orders",
                   free_ports + std::string("[tls]\nauthority = \"cert.pem\"\n") +
                       secret_with("stock") + "[routes]\nstock = \"" + url + "\"\n");
    orders.send("stock", "Reserve", R"({"item":"cog","count":1})");
    EXPECT_TRUE(stock.comes_to("SELECT count(*) FROM reserved WHERE item = 'cog'", 1));
    stock.child().send_signal(SIGHUP);
    EXPECT_TRUE(stock.says("are taken over"));
    std::ofstream(folder_.file("cert.pem")) << "nonsense";
    stock.child().send_signal(SIGHUP);
    EXPECT_TRUE(stock.says("stock.toml:9: tls.certificate: "));
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, hand_messages_to_a_web_service_and_its_answer_back) {
    test::raw_listener service;
    sidecar stock(folder_, "stock",
                  free_ports + secret_with("orders") + "[handlers]\nCharge = \"http://127.0.0.1:" +
                      std::to_string(service.port()) + "/charge\"\n");
    sidecar orders(folder_, "orders",
                   free_ports + secret_with("stock") +
                       "[routes]\nstock = \"http://127.0.0.1:" + stock.port() + "\"\n");
    orders.send("stock", "Charge", R"({"sum":5})");
    const auto call = service.accept();
    const auto request = call->receive();
    EXPECT_THAT(request.head, HasSubstr("POST /charge HTTP/1.1\r\n"));
    EXPECT_THAT(request.head, HasSubstr("Idempotency-Key: "));
    EXPECT_THAT(request.head, HasSubstr("rf-source: orders\r\n"));
    EXPECT_EQ(request.body, R"({"sum":5})");
    call->send("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{\"done\":true}");
    EXPECT_TRUE(orders.comes_to("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'", 1));
    EXPECT_EQ(stock.database().text("SELECT response_payload FROM inbox_messages"),
              R"({"done":true})");
    orders.stop();
    stock.stop();
}

std::string post(const std::string& path, const std::string& key, const std::string& body) {
    return "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + key +
           "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_F(sidecars, queue_messages_for_a_worker_with_a_key) {
    // SHA-256 of "worker-key".
    const std::string admin =
        "[admin]\nkeys = [{ name = \"w\", role = \"worker\", hash = \"sha256:"
        "HASH\" }]\n";
    const auto hash = test::run_process(
        {"/bin/sh", "-c", "printf worker-key | sha256sum | cut -c1-64 | tr -d '\\n'"});
    auto keys = admin;
    keys.replace(keys.find("HASH"), 4, hash.out);
    sidecar stock(folder_, "stock", free_ports + keys + secret_with("orders") + stock_handlers);
    sidecar orders(folder_, "orders",
                   free_ports + secret_with("stock") +
                       "[routes]\nstock = \"http://127.0.0.1:" + stock.port() + "\"\n");
    orders.send("stock", "Ship", R"({"to":"moon"})");
    ASSERT_TRUE(stock.comes_to("SELECT count(*) FROM posthorn_queue", 1));
    const auto admin_port = static_cast<std::uint16_t>(std::stoi(stock.port(1)));
    const auto take = [&](const std::string& key) {
        return ask(admin_port, post("/_rf/queue/Ship/take", key, R"({"owner":"w1","limit":5})"));
    };
    EXPECT_EQ(take("wrong").status, 401);
    const auto taken = take("worker-key");
    EXPECT_EQ(taken.status, 200);
    EXPECT_THAT(taken.body, HasSubstr(R"("payload":{"to":"moon"})"));
    EXPECT_THAT(taken.body, HasSubstr(R"("seq":1,)"));
    EXPECT_EQ(take("worker-key").body, R"({"messages":[]})");
    const auto done =
        ask(admin_port, post("/_rf/queue/ack", "worker-key", R"({"owner":"w1","seqs":[1]})"));
    EXPECT_EQ(done.body, R"({"count":1})");
    EXPECT_EQ(stock.database().integer("SELECT count(*) FROM posthorn_queue"), 0);
    // Bytes that are not text go out as on the wire, and hold up nothing behind them.
    for (const auto* payload : {"x'ff00'", "'after'"})
        stock.database().run(
            std::string("INSERT INTO posthorn_queue (message_id, source, endpoint, message_type,"
                        " payload, content_type, received_at) VALUES ('i', 'orders', 'Ship',"
                        " 'Signal', ") +
            payload + ", 'application/octet-stream', 0)");
    const auto bytes = take("worker-key");
    EXPECT_EQ(bytes.status, 200);
    EXPECT_THAT(bytes.body, HasSubstr(R"("payload":"/wA=","payloadEncoding":"base64")"));
    EXPECT_THAT(bytes.body, HasSubstr(R"("payload":"after","headers")"));
    const auto bad = ask(admin_port, post("/_rf/queue/ack", "worker-key", R"({"seqs":[1]})"));
    EXPECT_EQ(bad.status, 400);
    EXPECT_THAT(bad.body, HasSubstr("give an owner"));
    const auto none =
        ask(admin_port, post("/_rf/queue/Shop/take", "worker-key", R"({"owner":"w"})"));
    EXPECT_EQ(none.status, 404);
    EXPECT_THAT(none.body, HasSubstr("'Shop' is not a queue here; there are Ship"));
    const auto typo = ask(
        admin_port, post("/_rf/queue/Ship/take", "worker-key", R"({"owner":"w","lease":1000})"));
    EXPECT_EQ(typo.status, 400);
    EXPECT_THAT(typo.body, HasSubstr("'lease' is not known here; there are owner, limit, leaseMs"));
    const auto nothing = ask(admin_port, post("/_rf/queue/ack", "worker-key", R"({"owner":"w"})"));
    EXPECT_EQ(nothing.status, 400);
    EXPECT_THAT(nothing.body, HasSubstr("give seqs"));
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, go_on_though_nobody_reads_their_log) {
    constexpr int messages = 3'000;  // A line each, of which a pipe holds some hundreds.
    sidecar stock(folder_, "stock", free_ports + secret_with("orders") + stock_handlers);
    sidecar orders(folder_, "orders",
                   free_ports + secret_with("stock") + "[log]\nlevel = \"debug\"\n" +
                       "[routes]\nstock = \"http://127.0.0.1:" + stock.port() + "\"\n");
    orders.database().run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT "
        "INTO outbox_messages (destination, endpoint, payload)"
        " SELECT 'stock', 'Reserve', '{\"item\":\"nail\",\"count\":1}' FROM n");
    EXPECT_TRUE(stock.comes_to("SELECT count(*) FROM reserved", messages));
    EXPECT_TRUE(
        orders.comes_to("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'", messages));
    EXPECT_TRUE(orders.says("lines were dropped"));
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, take_a_new_route_and_secret_over_on_sighup) {
    sidecar stock(folder_, "stock", free_ports + secret_with("orders") + stock_handlers);
    sidecar orders(folder_, "orders", free_ports);
    orders.configure(free_ports + secret_with("stock") + "[routes]\nstock = \"http://127.0.0.1:" +
                     stock.port() + "\"\n[log]\nlevel = \"warn\"\n");
    orders.child().send_signal(SIGHUP);
    EXPECT_TRUE(orders.says("log.level changed too, which needs a restart"));
    orders.send("stock", "Reserve", R"({"item":"nut","count":3})");
    EXPECT_TRUE(stock.comes_to("SELECT count(*) FROM reserved WHERE item = 'nut'", 1))
        << orders.database().lines(
               "SELECT payload || status || retry_count || ifnull(last_error, '')"
               " FROM outbox_messages");
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, give_rows_of_plain_sql_the_retries_and_the_life_that_are_configured) {
    sidecar orders(folder_, "orders",
                   free_ports + std::string("[outbox]\nmax_retries = 9\nmessage_ttl = \"2h\"\n"));
    orders.database().run(
        "INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('x', 'Y', '{}')");
    EXPECT_EQ(orders.database().text("SELECT max_retries || ' ' || (expires_at - created_at)"
                                     " FROM outbox_messages"),
              "9 7200000");
    orders.stop();
}

TEST_F(sidecars, try_a_destination_at_once_when_its_route_is_corrected) {
    sidecar stock(folder_, "stock", free_ports + secret_with("orders") + stock_handlers);
    const auto routed_to = [&](const std::string& port) {
        return free_ports + secret_with("stock") + "[routes]\nstock = \"http://127.0.0.1:" + port +
               "\"\n";
    };
    sidecar orders(folder_, "orders", routed_to("1"));  // Nothing listens there.
    orders.send("stock", "Reserve", R"({"item":"nut","count":1})");
    ASSERT_TRUE(orders.says("stock gives no answer that counts"));
    orders.configure(routed_to(stock.port()));
    orders.child().send_signal(SIGHUP);
    EXPECT_TRUE(orders.says("stock did not answer, and is tried at once"));
    EXPECT_TRUE(stock.comes_to("SELECT count(*) FROM reserved WHERE item = 'nut'", 1));
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, keep_the_old_configuration_when_the_new_one_is_wrong) {
    sidecar stock(folder_, "stock", free_ports + secret_with("orders") + stock_handlers);
    const auto good = free_ports + secret_with("stock") +
                      "[routes]\nstock = \"http://127.0.0.1:" + stock.port() + "\"\n";
    sidecar orders(folder_, "orders", good);
    struct wrong_file {
        std::string text;
        std::string said;
    };
    for (const auto& [wrong, said] :
         {wrong_file{"[routes]\nstock = \"ftp://x\"\n", "orders.toml:9: routes.stock: the route"},
          wrong_file{"[nonsense]\n", "orders.toml:8: unknown section [nonsense]"},
          wrong_file{"", "it has no routes, no secrets and no admin keys any more"},
          wrong_file{"[secrets]\nstock = \"env:POSTHORN_NOT_SET\"\n",
                     "orders.toml:9: secrets.stock: the environment variable"},
          wrong_file{"[secrets]\n[handlers]\nA = \"sql:SELEC 1\"\n",
                     "orders.toml:10: handlers.A: the database says"}}) {
        orders.configure(free_ports + wrong);
        orders.child().send_signal(SIGHUP);
        EXPECT_TRUE(orders.says(said)) << wrong;
    }
    EXPECT_TRUE(orders.says("Reload: the old configuration stays"));
    orders.send("stock", "Reserve", R"({"item":"nail","count":3})");
    EXPECT_TRUE(stock.comes_to("SELECT count(*) FROM reserved", 1));
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, finish_what_is_under_way_on_sigterm) {
    test::raw_listener service;
    sidecar stock(folder_, "stock",
                  free_ports + secret_with("orders") + "[handlers]\nCharge = \"http://127.0.0.1:" +
                      std::to_string(service.port()) + "/charge\"\n");
    sidecar orders(folder_, "orders",
                   free_ports + secret_with("stock") +
                       "[routes]\nstock = \"http://127.0.0.1:" + stock.port() + "\"\n");
    orders.send("stock", "Charge", "{}");
    const auto call = service.accept();
    EXPECT_EQ(call->receive().body, "{}");
    stock.child().send_signal(SIGTERM);
    orders.child().send_signal(SIGTERM);
    EXPECT_TRUE(stock.says("Stopping"));
    EXPECT_TRUE(orders.says("Stopping"));
    call->send("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(orders.child().wait(), exit_0);
    EXPECT_EQ(stock.child().wait(), exit_0);
    EXPECT_EQ(orders.database().text("SELECT status FROM outbox_messages"), "Sent");
}

TEST_F(sidecars, take_a_response_where_the_configuration_says_and_nowhere_else) {
    const std::string counted =
        "\"sql:INSERT INTO reserved SELECT :_message_type || :_correlation_id, 0\"\n";
    sidecar stock(folder_, "stock",
                  free_ports + secret_with("orders") + "[handlers]\nCharge = " + counted +
                      "Refund = " + counted + "[responses]\nCharge = " + counted);
    sidecar orders(folder_, "orders",
                   free_ports + secret_with("stock") +
                       "[routes]\nstock = \"http://127.0.0.1:" + stock.port() + "\"\n");
    for (const std::string endpoint : {"Charge", "Refund"})
        orders.database().run(
            "INSERT INTO outbox_messages (destination, endpoint, payload, message_type,"
            " correlation_id) VALUES ('stock', '" +
            endpoint + "', '{}', 'Response', 'c1')");
    EXPECT_TRUE(orders.comes_to("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'", 1));
    EXPECT_TRUE(orders.comes_to(
        "SELECT count(*) FROM outbox_messages WHERE endpoint = 'Refund' AND status = 'Pending'"
        " AND last_error LIKE 'no_handler%'",
        1));
    EXPECT_EQ(stock.database().text("SELECT group_concat(item) FROM reserved"), "Responsec1");
    orders.stop();
    stock.stop();
}

TEST_F(sidecars, say_that_they_stand_by_for_another_on_the_same_file) {
    sidecar first(folder_, "stock", free_ports);
    sidecar second(folder_, "stock", free_ports);
    EXPECT_TRUE(second.says("this node stands by, since"));
    second.stop();
    first.stop();
}

TEST_F(sidecars, warn_of_a_ring_in_which_no_key_is_in_force) {
    sidecar orders(folder_, "orders",
                   free_ports + std::string("[secrets]\nstock = [{ secret = \"") + key_text +
                       "\", revoked = true }]\n[routes]\nstock = \"http://127.0.0.1:1\"\n");
    EXPECT_TRUE(orders.says("No key for stock is in force"));
    orders.send("stock", "Reserve", "{}");
    EXPECT_TRUE(orders.comes_to(
        "SELECT count(*) FROM outbox_messages WHERE last_error LIKE 'secret_unavailable%'", 1));
    const auto port = static_cast<std::uint16_t>(std::stoi(orders.port(1)));
    EXPECT_TRUE(test::eventually([&] {
        return ask(port, "GET /_rf/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                   .body.find("secret_unavailable") != std::string::npos;
    }));
    orders.stop();
}

TEST_F(sidecars, end_within_their_patience_though_a_web_service_never_answers) {
    test::raw_listener service;
    sidecar stock(folder_, "stock",
                  free_ports + secret_with("orders") +
                      "[outbox]\ndrain_timeout = \"100ms\"\n[handlers]\nCharge = "
                      "{ run = \"http://127.0.0.1:" +
                      std::to_string(service.port()) + "/charge\", lease = \"1h\" }\n");
    sidecar orders(folder_, "orders",
                   free_ports + secret_with("stock") +
                       "[routes]\nstock = \"http://127.0.0.1:" + stock.port() + "\"\n");
    orders.send("stock", "Charge", "{}");
    const auto call = service.accept();
    EXPECT_EQ(call->receive().body, "{}");
    stock.stop();
    // It was told, and nothing keeps the message from its next attempt.
    EXPECT_TRUE(orders.comes_to(
        "SELECT count(*) FROM outbox_messages WHERE last_error LIKE '%the node stops%'", 1));
    EXPECT_EQ(stock.database().integer("SELECT count(*) FROM inbox_messages"), 0);
    orders.stop();
}

}  // namespace
}  // namespace posthorn::integration
