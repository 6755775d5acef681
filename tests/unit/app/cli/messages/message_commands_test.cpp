#include <filesystem>
#include <fstream>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/uuid.hpp>

#include "base/time/clock.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"
#include "unit/app/cli/run.hpp"

namespace posthorn::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A service that `posthorn init` has made.
class message_commands : public testing::Test {
protected:
    void SetUp() override {
        const auto made = run({"init", "--config", config_, "--service", "orders"});
        ASSERT_EQ(made.code, exit_code::ok) << made.err;
    }

    printed with_config(std::vector<std::string> arguments, const std::string& input = "") const {
        arguments.insert(arguments.end(), {"--config", config_});
        return run(arguments, input);
    }
    boost::json::value json(std::vector<std::string> arguments) const {
        arguments.emplace_back("--json");
        const auto shown = with_config(std::move(arguments));
        EXPECT_EQ(shown.err, "");
        return boost::json::parse(shown.out);
    }
    std::string send(std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments{"send", "stock", "OrderPlaced",
                                           R"({"secret":"canary"})"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto sent = with_config(std::move(arguments));
        EXPECT_EQ(sent.code, exit_code::ok) << sent.err;
        return sent.out.substr(0, sent.out.find('\n'));
    }
    [[nodiscard]] test::sqlite_file database() const {
        return test::sqlite_file(folder_.file("data/orders.db"));
    }

    test::temporary_directory folder_;
    std::string config_ = folder_.file("orders.toml");
};

TEST_F(message_commands, init_makes_a_folder_that_others_cannot_look_into) {
    const auto rights = std::filesystem::status(folder_.file("data")).permissions();
    EXPECT_EQ(rights & std::filesystem::perms::others_all, std::filesystem::perms::none);
}

TEST_F(message_commands, list_shows_the_attempt_of_a_sent_message_and_no_old_error) {
    const auto id = send();
    database().run(
        "UPDATE outbox_messages SET status = 'Sent', retry_count = 2, last_error = 'timed out'");
    const auto page = with_config({"outbox", "list"}).out;
    EXPECT_THAT(page, ContainsRegex(id + " +stock +OrderPlaced +Sent +3 "));
    EXPECT_THAT(page, Not(HasSubstr("timed out")));
}

TEST_F(message_commands, init_makes_what_is_missing_and_overwrites_nothing) {
    send();
    std::ofstream(config_, std::ios::app) << "# mine\n";
    const auto again = run({"init", "--config", config_});
    EXPECT_EQ(again.code, exit_code::ok) << again.err;
    EXPECT_THAT(again.out, StartsWith("kept "));
    EXPECT_EQ(json({"outbox", "stats"}).at("pending"), 1);
    std::ifstream config(config_);
    const std::string text{std::istreambuf_iterator<char>(config), {}};
    EXPECT_THAT(text, testing::EndsWith("# mine\n"));
    EXPECT_EQ(run({"init", "--config", config_, "--service", "other"}).code, exit_code::usage);
}

TEST_F(message_commands, send_shows_the_first_id_for_a_known_dedupe_key) {
    const auto first = send({"--dedupe-key", "k", "--priority", "3", "--tenant", "acme"});
    EXPECT_EQ(send({"--dedupe-key", "k"}), first);
    EXPECT_NE(send({"--dedupe-key", "l"}), first);
    EXPECT_EQ(json({"outbox", "stats"}).at("pending"), 2);
    EXPECT_NE(with_config({"send", "stock", "OrderPlaced", "{}", "--priority", "10"}).code,
              exit_code::ok);
}

TEST_F(message_commands, init_takes_a_database_elsewhere) {
    const auto config = folder_.file("b/posthorn.toml");
    std::filesystem::create_directory(folder_.file("b"));
    const auto made = run({"init", "--config", config, "--service", "b", "--database",
                           folder_.file("elsewhere.db"), "--json"});
    ASSERT_EQ(made.code, exit_code::ok) << made.err;
    EXPECT_TRUE(std::filesystem::exists(folder_.file("elsewhere.db")));
    EXPECT_EQ(run({"stats", "--config", config}).code, exit_code::ok);
}

TEST_F(message_commands, send_stores_what_it_was_told) {
    const auto id =
        send({"--type", "command", "--correlation-id", "c1", "--header", "a=1", "--header", "b=x=y",
              "--order-key", "k", "--expires-in", "1h", "--deliver-at", "+10m"});
    const auto shown = json({"outbox", "show", id, "--payload"});
    EXPECT_EQ(shown.at("messageType"), "Command");
    EXPECT_EQ(shown.at("correlationId"), "c1");
    EXPECT_EQ(shown.at("orderKey"), "k");
    EXPECT_EQ(shown.at("payload"), R"({"secret":"canary"})");
    EXPECT_EQ(shown.at("headers"), R"({"a":"1","b":"x=y"})");
    const auto made = *parse_iso8601(std::string(shown.at("createdAt").as_string()));
    using namespace std::chrono_literals;
    EXPECT_EQ(*parse_iso8601(std::string(shown.at("expiresAt").as_string())), made + 1h);
    const auto wait = *parse_iso8601(std::string(shown.at("deliverAt").as_string())) - made;
    EXPECT_NEAR(static_cast<double>(wait.count()), 600'000, 5'000);
}

TEST_F(message_commands, send_reads_its_payload_from_standard_input) {
    const auto sent = with_config({"send", "stock", "OrderPlaced", "-"}, "{\"a\":2}\n");
    ASSERT_EQ(sent.code, exit_code::ok) << sent.err;
    const auto id = sent.out.substr(0, sent.out.find('\n'));
    EXPECT_EQ(json({"outbox", "show", id, "--payload"}).at("payload"), "{\"a\":2}");
}

TEST_F(message_commands, send_with_the_same_id_is_refused_and_stored_once) {
    const std::string id = "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001";
    EXPECT_EQ(send({"--id", id}), id);
    EXPECT_EQ(with_config({"send", "stock", "OrderPlaced", "--id", id}).code, exit_code::failed);
    EXPECT_EQ(json({"outbox", "stats"}).at("pending"), 1);
}

TEST_F(message_commands, send_says_what_is_wrong_and_stores_nothing) {
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--id", "12"},
                                                  {"--expires-in", "soon"},
                                                  {"--deliver-at", "later"},
                                                  {"--header", "novalue"},
                                                  {"--header", "rf-tenant=north"},
                                                  {"--type", "Letter"}}) {
        std::vector<std::string> arguments{"send", "stock", "OrderPlaced"};
        arguments.insert(arguments.end(), wrong.begin(), wrong.end());
        const auto refused = with_config(arguments);
        EXPECT_EQ(refused.code, exit_code::usage) << wrong.front();
        EXPECT_THAT(refused.err, HasSubstr(wrong.front()));
    }
    EXPECT_NE(with_config({"send", "stock", "OrderPlaced", "{no json"}).code, exit_code::ok);
    EXPECT_EQ(json({"outbox", "stats"}).at("pending"), 0);
}

TEST_F(message_commands, payloads_are_shown_only_when_asked_for) {
    const auto id = send();
    for (const std::vector<std::string>& look : {std::vector<std::string>{"outbox", "list"},
                                                 {"outbox", "show", id},
                                                 {"stats"},
                                                 {"health"}}) {
        EXPECT_THAT(with_config(look).out, Not(HasSubstr("canary"))) << look.front();
        auto as_json = look;
        as_json.emplace_back("--json");
        EXPECT_THAT(with_config(as_json).out, Not(HasSubstr("canary"))) << look.front();
    }
    EXPECT_THAT(with_config({"outbox", "show", id, "--payload"}).out, HasSubstr("canary"));
}

TEST_F(message_commands, list_is_a_table_with_ages_in_pages) {
    const auto first = send();
    send({"--order-key", "k"});
    const auto page = with_config({"outbox", "list", "--limit", "1"}).out;
    EXPECT_THAT(page, StartsWith("ID  "));
    EXPECT_THAT(page, HasSubstr(" ago"));
    EXPECT_THAT(page, HasSubstr("more: add --before 2"));
    EXPECT_THAT(with_config({"outbox", "list", "--before", "2"}).out, HasSubstr(first));
    EXPECT_EQ(with_config({"outbox", "list", "--destination", "nobody"}).out, "none\n");
    EXPECT_EQ(with_config({"outbox", "list", "--until", "1970-01-01T00:00:00Z"}).out, "none\n");
    EXPECT_THAT(with_config({"outbox", "list", "--since", "1970-01-01T00:00:00Z", "--until",
                             to_iso8601(real_clock().wall() + std::chrono::hours(1))})
                    .out,
                HasSubstr(first));
    for (const auto& [until, why] :
         {std::pair("", "--until: it is empty; give a value, or leave it out"),
          std::pair("noon", "until is 'noon'; give a time like 2026-02-14T12:00:00Z"),
          std::pair("9999-01-01T00:00:00Z", "more than a year from now"),
          std::pair("2020-01-01T00:00:00Z", "so nothing lies between")}) {
        const auto wrong =
            with_config({"outbox", "list", "--since", "2020-01-01T00:00:00Z", "--until", until});
        EXPECT_EQ(wrong.code, exit_code::usage) << until;
        EXPECT_THAT(wrong.err, HasSubstr(why));
    }
    EXPECT_EQ(with_config({"dead", "list"}).out, "none\n");
    EXPECT_EQ(with_config({"inbox", "list"}).out, "none\n");
}

TEST_F(message_commands, name_what_a_message_waits_behind_everywhere_one_looks) {
    const auto first = send({"--order-key", "acct-7"});
    const auto second = send({"--order-key", "acct-7", "--correlation-id", "c9"});
    const auto other = send({"--order-key", "acct-8", "--tenant", "acme"});
    EXPECT_THAT(with_config({"outbox", "show", second}).out,
                HasSubstr("waits behind   " + first + " (Pending) of order key acct-7\n"));
    database().run("UPDATE outbox_messages SET status = 'Dead' WHERE message_id = '" + first + "'");
    EXPECT_THAT(with_config({"outbox", "show", second}).out,
                testing::ContainsRegex("waits behind   " + first +
                                       " \\(Dead, given up .*ago\\) of order key acct-7\n"));
    EXPECT_THAT(with_config({"outbox", "list", "--status", "Pending"}).out,
                HasSubstr("waits behind an earlier one of order key acct-7"));
    EXPECT_THAT(with_config({"stats"}).out,
                testing::AllOf(HasSubstr("blocked        1, behind one of their order key"),
                               HasSubstr("BLOCKED BY"), HasSubstr(first)));
    EXPECT_THAT(with_config({"health"}).out, HasSubstr("behind " + first));
    EXPECT_THAT(with_config({"doctor"}).out,
                HasSubstr("such as 1 for 'stock' behind " + first + " (Dead since "));

    const auto of_key = with_config({"outbox", "list", "--order-key", "acct-7"}).out;
    EXPECT_THAT(of_key, testing::AllOf(HasSubstr(first), HasSubstr(second), Not(HasSubstr(other))));
    const auto of_tenant = with_config({"outbox", "list", "--tenant", "acme"}).out;
    EXPECT_THAT(of_tenant, testing::AllOf(HasSubstr(other), Not(HasSubstr(second))));
    const auto correlated = with_config({"outbox", "list", "--correlation-id", "c9"}).out;
    EXPECT_THAT(correlated, testing::AllOf(HasSubstr(second), Not(HasSubstr(first))));
}

TEST_F(message_commands, tell_of_work_that_expired_until_it_is_resolved) {
    const auto lost = send();
    EXPECT_THAT(with_config({"health"}).out, StartsWith("orders green"));
    database().run("UPDATE outbox_messages SET status = 'Expired' WHERE message_id = '" + lost +
                   "'");
    EXPECT_THAT(with_config({"health"}).out, StartsWith("orders yellow"));
    EXPECT_THAT(with_config({"stats"}).out, HasSubstr("expired        1\n"));
    EXPECT_THAT(with_config({"doctor"}).out,
                HasSubstr("1 message expired before it was delivered"));
    EXPECT_EQ(with_config({"dead", "resolve", lost, "--reason", "sold by phone"}).code,
              exit_code::ok);
    EXPECT_THAT(with_config({"health"}).out, StartsWith("orders green"));
    EXPECT_THAT(with_config({"doctor"}).out,
                HasSubstr("none is dead, expired, undeliverable or blocked"));
}

TEST_F(message_commands, requeue_revives_the_dead_and_names_the_rest) {
    const auto dead = send();
    const auto alive = send();
    database().run("UPDATE outbox_messages SET status = 'Dead' WHERE message_id = '" + dead + "'");
    EXPECT_THAT(with_config({"dead", "list"}).out, HasSubstr(dead));
    EXPECT_EQ(with_config({"health"}).code, exit_code::failed) << "a dead message is red";
    const auto asked = with_config({"dead", "requeue", alive, dead});
    EXPECT_EQ(asked.code, exit_code::failed);
    EXPECT_EQ(asked.out, dead + " is pending\n");
    EXPECT_THAT(asked.err, HasSubstr(alive + " is Pending, not Dead"));
    EXPECT_EQ(with_config({"dead", "list"}).out, "none\n");
    EXPECT_EQ(with_config({"health"}).code, exit_code::ok);
    EXPECT_EQ(with_config({"dead", "requeue", "12"}).code, exit_code::usage);
}

TEST_F(message_commands, ask_for_a_database_that_is_there) {
    const auto missing = run({"stats", "--database", folder_.file("none.db")});
    EXPECT_EQ(missing.code, exit_code::failed);
    EXPECT_THAT(missing.err, HasSubstr("make it with 'posthorn init'"));
    EXPECT_FALSE(std::filesystem::exists(folder_.file("none.db")));
    EXPECT_EQ(run({"stats", "--database", folder_.file("data/orders.db")}).code, exit_code::ok);
    EXPECT_EQ(run({"stats", "--url", "http://127.0.0.1:1", "--config", config_}).code,
              exit_code::usage);
}

TEST_F(message_commands, say_that_a_node_is_not_there) {
    const auto refused = run({"health", "--url", "http://127.0.0.1:1"});
    EXPECT_EQ(refused.code, exit_code::failed);
    EXPECT_THAT(refused.err, HasSubstr("is the node running"));
}

}  // namespace
}  // namespace posthorn::cli
