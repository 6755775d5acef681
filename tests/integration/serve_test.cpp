#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/process.hpp"
#include "support/raw_http.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

using test::ask;
using test::port_in;
using test::process;
using test::process_end;
using test::raw_http;
using test::run_process;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

constexpr auto program = POSTHORN_PROGRAM;
constexpr process_end exit_0{0, 0};
constexpr process_end exit_2{2, 0};

std::string get(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
}

/// The real program on free ports; the lines that it prints tell which.
class serve : public testing::Test {
protected:
    void SetUp() override {
        public_line_ = child_.read_line().value_or("");
        admin_line_ = child_.read_line().value_or("");
        ASSERT_NE(public_port(), 0) << child_.err();
        ASSERT_NE(admin_port(), 0) << child_.err();
    }

    [[nodiscard]] std::uint16_t public_port() const { return port_in(public_line_); }
    [[nodiscard]] std::uint16_t admin_port() const { return port_in(admin_line_); }

    test::temporary_directory folder_;  // Where its database is made.
    process child_{{program, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"},
                   {.working_directory = folder_.path()}};
    std::string public_line_;
    std::string admin_line_;
};

TEST_F(serve, prints_one_line_for_each_listener) {
    EXPECT_THAT(public_line_, MatchesRegex("posthorn: listening on http://127.0.0.1:[0-9]+ for "
                                           "messages \\(health: /_rf/health\\)"));
    EXPECT_THAT(admin_line_, MatchesRegex("posthorn: listening on http://127.0.0.1:[0-9]+ for "
                                          "operators \\(health: /_rf/health\\)"));
    EXPECT_NE(public_port(), admin_port());
    child_.send_signal(SIGTERM);
    EXPECT_EQ(child_.wait(), exit_0);
    EXPECT_EQ(child_.out(), public_line_ + "\n" + admin_line_ + "\n");
}

TEST_F(serve, answers_health_on_both_listeners) {
    for (const auto port : {public_port(), admin_port()}) {
        const auto response = ask(port, get("/_rf/health"));
        EXPECT_EQ(response.status, 200);
        EXPECT_THAT(response.head, HasSubstr("Content-Type: application/json\r\n"));
        EXPECT_THAT(response.body, StartsWith(R"({"status":"green",)"));
        EXPECT_THAT(response.body, HasSubstr(R"("service":"posthorn")"));
    }
}

TEST_F(serve, lists_what_there_is_on_the_admin_listener) {
    const auto index = ask(admin_port(), get("/_rf"));
    EXPECT_EQ(index.status, 200);
    EXPECT_THAT(index.body, HasSubstr("GET /metrics"));
    EXPECT_THAT(index.body, HasSubstr("POST /_rf/dead/{messageId}/requeue"));
    EXPECT_EQ(ask(public_port(), get("/_rf")).status, 404);
}

TEST(serve_in_a_folder, takes_the_configuration_that_is_there_and_says_so) {
    const test::temporary_directory folder;
    std::ofstream(folder.file("posthorn.toml"))
        << "[service]\nid = \"orders\"\n[listen]\nhttp = \"127.0.0.1:0\"\n"
           "admin = \"127.0.0.1:0\"\n";
    process child({program, "serve"}, {.working_directory = folder.path()});
    ASSERT_TRUE(child.read_line() && child.read_line()) << child.err();
    child.send_signal(SIGTERM);
    EXPECT_EQ(child.wait(), exit_0);
    EXPECT_THAT(child.err(), HasSubstr("Node orders runs with " + folder.file("posthorn.toml") +
                                       " on " + folder.file("data/orders.db")));
    EXPECT_TRUE(std::filesystem::exists(folder.file("data/orders.db")));
}

TEST(serve_in_a_folder, reads_no_pipe_again_and_hears_the_signal_behind_it) {
    const test::temporary_directory folder;
    const auto file = folder.file("posthorn.toml");
    std::ofstream(file) << "[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"\"\n";
    process child({program, "serve"}, {.working_directory = folder.path()});
    ASSERT_NE(port_in(child.read_line().value_or("")), 0) << child.err();
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), S_IRUSR | S_IWUSR), 0);
    child.send_signal(SIGHUP);
    EXPECT_TRUE(child.comes_to_say("it is not a regular file")) << child.err();
    child.send_signal(SIGTERM);
    EXPECT_EQ(child.wait(), exit_0);
}

TEST_F(serve, answers_head_without_a_body) {
    raw_http peer(public_port());
    peer.send("HEAD /_rf/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(peer.receive(true).status, 200);
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(serve, refuses_what_it_does_not_know) {
    EXPECT_EQ(ask(public_port(), get("/nothing")).status, 404);
    const auto wrong =
        ask(public_port(), "POST /_rf/health HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(wrong.status, 405);
    EXPECT_THAT(wrong.head, HasSubstr("Allow: GET, HEAD\r\n"));
    EXPECT_EQ(ask(public_port(), "nonsense\r\n\r\n").status, 400);
}

TEST_F(serve, refuses_headers_over_16_kib_and_bodies_over_1088_kib) {
    const std::string large(17 * 1024, 'a');
    EXPECT_EQ(ask(public_port(), "GET / HTTP/1.1\r\nHost: x\r\nA: " + large + "\r\n\r\n").status,
              431);
    EXPECT_EQ(
        ask(public_port(), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1114113\r\n\r\n").status,
        413);
}

TEST(serve_with_few_files, raises_the_limit_as_far_as_it_may) {
    const test::temporary_directory folder;
    process child({"/bin/sh", "-c",
                   std::string("ulimit -Sn 128; ulimit -Hn 512; exec ") + program +
                       " serve --listen 127.0.0.1:0 --admin 127.0.0.1:0"},
                  {.working_directory = folder.path()});
    ASSERT_NE(port_in(child.read_line().value_or("")), 0) << child.err();
    std::ifstream limits("/proc/" + std::to_string(child.id()) + "/limits");
    const std::string text{std::istreambuf_iterator<char>(limits), {}};
    EXPECT_THAT(text, testing::ContainsRegex("Max open files +512 +512"));
}

TEST(serve_with_few_files, strangers_shut_out_neither_each_other_nor_operators) {
    const test::temporary_directory folder;
    process child({"/bin/sh", "-c",
                   std::string("ulimit -n 128; exec ") + program +
                       " serve --listen 127.0.0.1:0 --admin 127.0.0.1:0"},
                  {.working_directory = folder.path()});
    const auto public_port = port_in(child.read_line().value_or(""));
    const auto admin_port = port_in(child.read_line().value_or(""));
    ASSERT_NE(admin_port, 0) << child.err();
    std::vector<std::unique_ptr<raw_http>> strangers;
    for (int i = 0; i < 200; ++i) {
        strangers.push_back(std::make_unique<raw_http>(public_port));
        strangers.back()->send("GET /_rf/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    }
    EXPECT_EQ(strangers.back()->receive().status, 200);
    EXPECT_EQ(ask(admin_port, get("/_rf/health")).status, 200);
    EXPECT_EQ(ask(public_port, get("/_rf/health")).status, 200);
    child.send_signal(SIGTERM);
    EXPECT_EQ(child.wait(), exit_0);
    EXPECT_THAT(child.err(), HasSubstr("only 128 files may be open"));
}

TEST_F(serve, stops_cleanly_on_either_signal_with_a_connection_open) {
    raw_http idle(public_port());
    child_.send_signal(SIGINT);
    EXPECT_TRUE(idle.is_closed_by_peer());
    EXPECT_EQ(child_.wait(), exit_0);
}

TEST_F(serve, stops_at_once_on_a_second_signal) {
    raw_http slow(public_port());
    slow.send("GET / HTTP/1.1\r\n");  // A request in flight, for which it would wait 10 seconds.
    raw_http idle(public_port());
    idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(idle.receive().status, 404);  // So it has seen the slow one too.
    child_.send_signal(SIGTERM);
    EXPECT_TRUE(idle.is_closed_by_peer());  // And now the signal; two at once would be one.
    child_.send_signal(SIGTERM);
    EXPECT_EQ(child_.wait(std::chrono::seconds(8)), exit_0);
}

TEST_F(serve, says_that_an_address_is_taken_and_exits_2) {
    const std::string taken = "127.0.0.1:" + std::to_string(public_port());
    const test::temporary_directory elsewhere;
    const auto second =
        run_process({program, "serve", "--listen", taken}, {.working_directory = elsewhere.path()});
    EXPECT_EQ(second.end, exit_2);
    EXPECT_EQ(second.out, "");
    EXPECT_THAT(second.err,
                StartsWith("posthorn: --listen: listen.http: cannot listen on " + taken + ": "));
    EXPECT_THAT(second.err, HasSubstr("choose another port"));
}

class config_file : public testing::Test {
protected:
    void write(std::string_view text) const { std::ofstream(path_) << text; }

    test::temporary_directory folder_;
    std::string path_ = folder_.file("p.toml");
};

TEST_F(config_file, is_obeyed) {
    write(
        "[service]\nid = \"orders\"\n[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n"
        "[log]\nformat = \"json\"\n");
    process child({program, "serve", "--config", path_});
    const auto port = port_in(child.read_line().value_or(""));
    EXPECT_THAT(ask(port, get("/_rf/health")).body, HasSubstr(R"("service":"orders")"));
    child.send_signal(SIGTERM);
    EXPECT_EQ(child.wait(), exit_0);
    EXPECT_THAT(child.err(), StartsWith("{\"time\":"));
}

TEST_F(config_file, with_a_store_in_memory_is_said_to_be_not_durable_wherever_one_looks) {
    write("[store]\nurl = \"memory:\"\n[listen]\nhttp = \"\"\nadmin = \"127.0.0.1:0\"\n");
    process child({program, "serve", "--config", path_});
    EXPECT_EQ(child.read_line(), "posthorn: the store is in memory and NOT DURABLE");
    const auto port = port_in(child.read_line().value_or(""));
    EXPECT_THAT(ask(port, get("/_rf/health")).body, HasSubstr(R"("durable":false)"));
    EXPECT_THAT(ask(port, get("/_rf/outbox/stats")).body, HasSubstr(R"("durable":false)"));
    EXPECT_THAT(ask(port, get("/metrics")).body, HasSubstr("\nposthorn_store_durable 0\n"));
    const auto url = "http://127.0.0.1:" + std::to_string(port);
    for (const auto* command : {"health", "stats"})
        EXPECT_THAT(run_process({program, command, "--url", url}).out, HasSubstr("NOT DURABLE"));
    child.send_signal(SIGTERM);
    EXPECT_EQ(child.wait(), exit_0);
    EXPECT_THAT(child.err(), HasSubstr("NOT DURABLE"));
}

TEST_F(config_file, with_a_mistake_is_named_with_the_line_and_exits_2) {
    write("[listen]\nhtpp = \"127.0.0.1:0\"\n");
    const auto result = run_process({program, "serve", "--config", path_});
    EXPECT_EQ(result.end, exit_2);
    EXPECT_EQ(result.err,
              "posthorn: " + path_ + ":2: unknown key 'htpp' in [listen]; did you mean 'http'?\n");
}

TEST(program, exits_2_and_names_the_nearest_command) {
    const auto result = run_process({program, "srve"});
    EXPECT_EQ(result.end, exit_2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err,
              "posthorn: unknown command 'srve'; did you mean 'serve'? Run 'posthorn help'.\n");
}

TEST(program, prints_help_and_exits_0_without_arguments) {
    const auto result = run_process({program});
    EXPECT_EQ(result.end, exit_0);
    EXPECT_THAT(result.out, HasSubstr("Usage: posthorn COMMAND"));
}

}  // namespace
}  // namespace posthorn
