#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>

#include "sidecar_fixture.hpp"

namespace posthorn::integration {
namespace {

using test::process_end;
using test::run_process;
using testing::HasSubstr;

constexpr process_end exit_1{1, 0};
constexpr process_end work_left{3, 0};

constexpr auto counts_each = "[handlers]\nTook = \"sql:INSERT INTO taken(id) VALUES (:id)\"\n";

/// A service that only drains, and one that takes what it sends.
class draining : public testing::Test {
protected:
    draining() {
        test::sqlite_file made(folder_.file("stock.db"), test::sqlite_file::make);
        made.run("CREATE TABLE taken(id INTEGER)");
        stock_ = std::make_unique<sidecar>(folder_, "stock", stock_text());
        configure("");
        const auto begun = run_process({POSTHORN_PROGRAM, "init", "--config", file_});
        EXPECT_EQ(begun.end, exit_0) << begun.err;
    }

    static std::string stock_text() { return free_ports + secret_with("orders") + counts_each; }
    void configure(const std::string& text) const {
        std::ofstream(file_) << "[service]\nid = \"orders\"\n[store]\nurl = \"sqlite:orders.db\"\n"
                             << "[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n"
                             << "[routes]\nstock = \"http://127.0.0.1:" << stock_->port() << "\"\n"
                             << secret_with("stock") << text;
    }
    void send(int count) const {
        orders().run(
            "WITH RECURSIVE of(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM of WHERE id < " +
            std::to_string(count) +
            ") INSERT INTO outbox_messages (destination, endpoint, payload) "
            "SELECT 'stock', 'Took', json_object('id', random() / 2048) FROM of");
    }
    [[nodiscard]] test::sqlite_file orders() const {
        return test::sqlite_file(folder_.file("orders.db"));
    }
    [[nodiscard]] std::int64_t taken() const {
        EXPECT_EQ(stock_->database().integer("SELECT count(*) - count(DISTINCT id) FROM taken"), 0);
        return stock_->database().integer("SELECT count(*) FROM taken");
    }
    [[nodiscard]] test::process_result drain(std::vector<std::string> words) const {
        words.insert(words.begin(), {POSTHORN_PROGRAM, "drain", "--config", file_});
        return run_process(words);
    }

    test::temporary_directory folder_;
    std::string file_ = folder_.file("orders.toml");
    std::unique_ptr<sidecar> stock_;
};

TEST_F(draining, once_takes_a_batch_and_tells_that_more_is_due) {
    send(25);
    const auto first = drain({"--once", "--batch", "10", "--json"});
    EXPECT_EQ(first.end, work_left) << first.err;
    EXPECT_EQ(first.out, "{\"processed\":10,\"more\":true}\n");
    EXPECT_EQ(taken(), 10);
    const auto all = drain({"--batch", "10"});
    EXPECT_EQ(all.end, exit_0) << all.err;
    EXPECT_EQ(all.out, "15 messages processed\n");
    EXPECT_EQ(taken(), 25);
    const auto none = drain({"--once"});
    EXPECT_EQ(none.end, exit_0) << none.err;
    EXPECT_EQ(none.out, "0 messages processed\n");
}

TEST_F(draining, is_done_when_all_that_is_left_is_paused) {
    send(3);
    orders().run("INSERT INTO outbox_paused (destination, paused_at) VALUES ('stock', 1)");
    const auto ended = drain({"--json"});
    EXPECT_EQ(ended.end, exit_0) << ended.err;
    EXPECT_EQ(ended.out, "{\"processed\":0,\"more\":false}\n");
    EXPECT_EQ(taken(), 0);
}

TEST_F(draining, leaves_a_file_to_the_node_that_works_on_it) {
    const sidecar at_work(folder_, "orders", free_ports);
    const auto refused = drain({"--once"});
    EXPECT_EQ(refused.end, exit_1);
    EXPECT_THAT(refused.err, HasSubstr("another node works on"));
}

TEST_F(draining, says_what_is_wrong_with_its_options) {
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"--batch", "0"}, {"--batch", "x"}, {"--for", "soon"}, {"--for", "0s"}}) {
        const auto refused = drain(words);
        EXPECT_EQ(refused.end, exit_2) << words.back();
        EXPECT_THAT(refused.err, HasSubstr(words.front()));
    }
}

TEST_F(draining, comes_by_itself_where_a_timer_is_set) {
    send(3);
    const sidecar timed(folder_, "orders",
                        free_ports + secret_with("stock") +
                            "[routes]\nstock = \"http://127.0.0.1:" + stock_->port() +
                            "\"\n[outbox]\ntimer = \"* * * * * *\"\ntimer_batch = 2\n");
    EXPECT_TRUE(stock_->comes_to("SELECT count(*) FROM taken", 3));
    send(1);
    EXPECT_TRUE(stock_->comes_to("SELECT count(*) FROM taken", 4));
    EXPECT_EQ(taken(), 4);
}

TEST_F(draining, names_a_timer_that_is_none) {
    configure("[outbox]\ntimer = \"*/30 * * * *\"\ntimer_batch = 0\n");
    const auto checked = run_process({POSTHORN_PROGRAM, "config", "check", "--config", file_});
    EXPECT_EQ(checked.end, exit_2);
    EXPECT_THAT(checked.err + checked.out, HasSubstr("outbox.timer: '*/30 * * * *' has 5 fields"));
    EXPECT_THAT(checked.err + checked.out, HasSubstr("outbox.timer_batch cannot be 0"));
}

TEST_F(draining, is_done_at_each_call_of_a_function) {
    send(12);
    // What the example has the platform start, with the configuration beside it.
    std::filesystem::copy(file_, folder_.file("posthorn.toml"));
    std::ifstream host(POSTHORN_EXAMPLES_FOLDER "/13_function/host.json");
    const auto named = boost::json::parse(host).at_pointer("/customHandler/description/arguments");
    auto command = boost::json::value_to<std::vector<std::string>>(named);
    command.insert(command.begin(), POSTHORN_PROGRAM);
    command.insert(command.end(), {"--batch", "10"});
    test::process function(command, {.environment = {{"FUNCTIONS_CUSTOMHANDLER_PORT", "0"}},
                                     .working_directory = folder_.path()});
    const auto port = test::port_in(function.read_line().value_or(""));
    ASSERT_NE(port, 0) << function.err();
    const std::string call = R"({"Data":{"timer":{}},"Metadata":{}})";
    const auto invoke = [&](const std::string& method) {
        return test::ask(port, method +
                                   " /send HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                   "Connection: close\r\nContent-Length: " +
                                   std::to_string(call.size()) + "\r\n\r\n" + call);
    };
    const auto first = invoke("POST");
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.body,
              R"({"Outputs":{"processed":10},"Logs":["10 messages processed"],"ReturnValue":10})");
    EXPECT_EQ(taken(), 10);
    EXPECT_THAT(invoke("POST").body, HasSubstr(R"("ReturnValue":2)"));
    EXPECT_THAT(invoke("POST").body, HasSubstr(R"("ReturnValue":0)"));
    EXPECT_EQ(taken(), 12);
    EXPECT_EQ(invoke("GET").status, 405);
    function.send_signal(SIGTERM);
    EXPECT_EQ(function.wait(), exit_0);
}

}  // namespace
}  // namespace posthorn::integration
