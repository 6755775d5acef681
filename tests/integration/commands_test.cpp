#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/sidecar_fixture.hpp"

namespace posthorn {
namespace {

using integration::free_ports;
using integration::sidecar;
using test::run_process;
using testing::HasSubstr;

constexpr test::process_end exit_0{0, 0};
constexpr test::process_end exit_1{1, 0};

// What bash offers for the words, the last of which is being typed.
std::string completed(const std::string& words) {
    const std::string script =
        std::string("source <(") + POSTHORN_PROGRAM +
        " completion bash) && complete -p posthorn >/dev/null && COMP_WORDS=(" + words +
        ") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _posthorn && "
        "echo \"${COMPREPLY[*]}\"";
    const auto shown = run_process({"/bin/bash", "-c", script});
    EXPECT_EQ(shown.end, exit_0) << shown.err;
    return shown.out;
}

TEST(completion, offers_commands_options_and_values_in_bash) {
    EXPECT_EQ(completed("posthorn comp"), "compact completion\n");
    EXPECT_EQ(completed("posthorn keys ro"), "rotate\n");
    EXPECT_EQ(completed("posthorn keys rotate --ov"), "--overlap\n");
    EXPECT_EQ(completed("posthorn keys admin new --role ''"), "viewer operator worker\n");
    EXPECT_EQ(completed("posthorn completion z"), "zsh\n");
    EXPECT_EQ(completed("posthorn serve --config /etc/host"),
              completed("posthorn serve -c /etc/host"));
    EXPECT_THAT(completed("posthorn serve --config /etc/host"), HasSubstr("/etc/hostname"));
}

TEST(completion, is_a_script_for_the_other_shells_too) {
    for (const auto* shell : {"zsh", "fish"}) {
        const auto shown = run_process({POSTHORN_PROGRAM, "completion", shell});
        EXPECT_EQ(shown.end, exit_0);
        EXPECT_THAT(shown.out, HasSubstr("rotate")) << shell;
    }
}

TEST(commands, ask_a_running_node_with_the_key_from_the_environment) {
    const test::temporary_directory folder;
    const auto made = run_process({POSTHORN_PROGRAM, "keys", "admin", "new", "--role", "operator"});
    const auto key = made.out.substr(0, made.out.find('\n'));
    const auto lines = made.out.substr(made.out.find("[[admin.keys]]"));
    sidecar node(folder, "orders", std::string(free_ports) + lines);
    const auto url = "http://127.0.0.1:" + node.port(1);

    EXPECT_EQ(run_process({POSTHORN_PROGRAM, "stats", "--url", url}).end, exit_1);
    const test::process_options keyed{.environment = {{"POSTHORN_ADMIN_KEY", key}}};
    const auto ask = [&](std::vector<std::string> words) {
        words.insert(words.begin(), POSTHORN_PROGRAM);
        words.insert(words.end(), {"--url", url});
        return run_process(words, keyed);
    };
    const auto sent = run_process(
        {POSTHORN_PROGRAM, "send", "nobody", "Hello", "--config", folder.file("orders.toml")});
    ASSERT_EQ(sent.end, exit_0) << sent.err;
    const auto id = sent.out.substr(0, sent.out.find('\n'));
    EXPECT_THAT(ask({"outbox", "list"}).out, HasSubstr(id));
    EXPECT_THAT(ask({"outbox", "show", id}).out, HasSubstr("nobody"));
    EXPECT_THAT(ask({"stats", "--json"}).out, HasSubstr("\"duplicates\":0"));
    EXPECT_THAT(ask({"inbox", "list"}).out, HasSubstr("none"));
    EXPECT_THAT(ask({"health"}).out, HasSubstr("orders "));
    EXPECT_EQ(ask({"outbox", "show", id, "--payload"}).end, exit_1) << "the key has no right to it";

    node.database().run("UPDATE outbox_messages SET status = 'Dead'");
    const auto revived = ask({"dead", "requeue", id});
    EXPECT_EQ(revived.end, exit_0) << revived.err;
    EXPECT_EQ(revived.out, id + " is pending\n");
    node.stop();
}

TEST(demo, shows_that_each_order_takes_effect_once_while_services_are_killed) {
    const test::temporary_directory folder;
    const auto shown = run_process({POSTHORN_PROGRAM, "demo", "--seconds", "5", "--json"},
                                   {.environment = {{"TMPDIR", folder.path()}}});
    EXPECT_EQ(shown.end, exit_0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("\"missing\":0,\"doubled\":0"));
    EXPECT_THAT(shown.out, HasSubstr("\"exactlyOnce\":true"));
    EXPECT_THAT(shown.out, testing::Not(HasSubstr("\"killsSurvived\":0")));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "it cleans up";
}

TEST(demo, ends_early_on_a_signal_and_prints_lines_where_there_is_no_terminal) {
    const test::temporary_directory folder;
    test::process child({POSTHORN_PROGRAM, "demo", "--seconds", "600"},
                        {.environment = {{"TMPDIR", folder.path()}}});
    EXPECT_THAT(child.read_line().value_or(""), HasSubstr("orders sends to stock"));
    EXPECT_THAT(child.read_line().value_or(""), HasSubstr("each order exactly once: yes"));
    child.send_signal(SIGINT);
    EXPECT_EQ(child.wait(std::chrono::minutes(5)), exit_0) << child.err();
    EXPECT_THAT(child.out(), HasSubstr("final check of both databases"));
}

}  // namespace
}  // namespace posthorn
