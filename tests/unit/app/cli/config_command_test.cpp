#include <filesystem>
#include <fstream>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"
#include "unit/app/cli/run.hpp"

namespace posthorn::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class config_command : public testing::Test {
protected:
    void write(std::string_view text) const { std::ofstream(path_) << text; }
    [[nodiscard]] std::string show() const { return run({"config", "show", "-c", path_}).out; }

    test::temporary_directory folder_;
    std::string path_ = folder_.file("p.toml");
};

TEST_F(config_command, shows_every_value_and_where_it_came_from) {
    write("[service]\ndefaults = \"webhooks\"\n[outbox]\nbatch_size = 7\n");
    const auto shown = show();
    EXPECT_THAT(shown, ContainsRegex("outbox.batch_size +7 +[^ ]*p.toml:4"));
    EXPECT_THAT(shown, ContainsRegex("outbox.retry_delay_base +5s +defaults \"webhooks\""));
    EXPECT_THAT(shown, ContainsRegex("outbox.message_ttl +1d +default\n"));
}

TEST_F(config_command, says_below_what_was_raised_or_is_weak) {
    write("[store]\nurl = \"memory:\"\n");
    const auto shown = show();
    EXPECT_THAT(shown, HasSubstr("\ninbox.retention: 48h instead of the 24h of \"messaging\""));
    EXPECT_THAT(shown, HasSubstr("\nstore.url: not durable"));
    write("[service]\ndefaults = \"integration-events\"\n");
    EXPECT_THAT(show(), Not(HasSubstr("instead of")));
}

TEST_F(config_command, shows_the_same_as_json) {
    write("[service]\ndefaults = \"workflow\"\n");
    const auto entries = boost::json::parse(run({"config", "show", "--json", "-c", path_}).out);
    bool found = false;
    for (const auto& each : entries.as_array()) {
        EXPECT_TRUE(each.at("note").is_string());
        if (each.at("key") != "outbox.poll_interval") continue;
        found = true;
        EXPECT_EQ(each.at("value"), "30s");
        EXPECT_EQ(each.at("origin"), "defaults \"workflow\"");
    }
    EXPECT_TRUE(found);
}

TEST_F(config_command, check_finds_all_that_would_keep_a_node_from_starting_at_once) {
    write(
        "[service]\nid = \"orders\"\n"
        "[routes]\nstock = \"http://127.0.0.1:1\"\nbilling = \"http://127.0.0.1:2\"\n"
        "[secrets]\nbilling = \"file:missing.keys\"\n"
        "[handlers]\nA = \"sql:INSRT INTO t VALUES (1)\"\nB = \"sql:SELEC 1\"\n"
        "C = \"sql:INSERT INTO later VALUES (1)\"\n"
        "[outbox]\nbatch_size = \"many\"\nwindow = 0\nurrl = 1\n"
        "[tls]\ncertificate = \"none.pem\"\nkey = \"none.pem\"\n");
    const auto checked = run({"config", "check", "-c", path_});
    EXPECT_EQ(checked.code, exit_code::usage);
    EXPECT_THAT(checked.out, MatchesRegex("[^\n]*:4: routes.stock has no secret; [^\n]*\n"
                                          "[^\n]*:7: secrets.billing: [^\n]*missing.keys[^\n]*\n"
                                          "[^\n]*:9: handlers.A: [^\n]*INSRT[^\n]*\n"
                                          "[^\n]*:10: handlers.B: [^\n]*SELEC[^\n]*\n"
                                          "[^\n]*:13: outbox.batch_size [^\n]*\n"
                                          "[^\n]*:14: outbox.window [^\n]*\n"
                                          "[^\n]*:15: unknown key 'urrl'[^\n]*\n"
                                          "[^\n]*:17: tls.certificate: [^\n]*none.pem[^\n]*\n"
                                          "note: the SQL of handlers.C cannot work yet: "
                                          "[^\n]*later[^\n]*\n"));
    EXPECT_THAT(checked.err, HasSubstr("has 8 mistakes"));
}

TEST_F(config_command, check_finds_what_webhooks_do_not_take) {
    write(
        "[limits]\nname = 20\n[webhooks]\nallow = \"10.0.0.0/99\"\nretry_pauses = \"soon\"\n"
        "disable_after = \"1ms\"\ndisable_backlog = 0\nconnections_max = 0\nportal = true\n"
        "portal_embedders = \"app.example\"\n"
        "subscribers = [{ url = \"https://a.example/\" }]\nalerts = \"webhooks\"\n");
    const auto checked = run({"config", "check", "-c", path_});
    EXPECT_EQ(checked.code, exit_code::usage);
    EXPECT_THAT(checked.out, MatchesRegex("[^\n]*:4: webhooks.allow: [^\n]*\n"
                                          "[^\n]*:5: webhooks.retry_pauses: 'soon'[^\n]*\n"
                                          "[^\n]*:6: webhooks.disable_after [^\n]*\n"
                                          "[^\n]*:7: webhooks.disable_backlog [^\n]*\n"
                                          "[^\n]*:8: webhooks.connections_max [^\n]*\n"
                                          "[^\n]*:9: webhooks.portal needs [^\n]*\n"
                                          "[^\n]*:10: webhooks.portal_embedders: 'app.example' is "
                                          "[^\n]*\n"
                                          "[^\n]*:11: webhooks.subscribers, entry 1: [^\n]*\n"
                                          "[^\n]*:12: webhooks.alerts cannot be [^\n]*\n"));
    EXPECT_THAT(checked.err, HasSubstr("has 9 mistakes"));
}

TEST_F(config_command, check_finds_alerts_of_webhooks_that_would_be_events_or_no_message) {
    const auto problem = [&](const std::string& name) {
        write("[limits]\nname = 20\n[webhooks]\nalerts = \"" + name + "\"\n");
        return run({"config", "check", "-c", path_}).out;
    };
    for (const std::string name : {"webhooks", "webhook:0199a0b1"})
        EXPECT_THAT(problem(name), HasSubstr(":4: webhooks.alerts cannot be '" + name + "'"));
    for (const std::string name : {"a\\u0007b", "operations-of-the-shop"})
        EXPECT_THAT(problem(name), HasSubstr("is not the name of a service; write 1 to 20 bytes"));
    for (const std::string name : {"none", "operations", "webhook", "webhooks2"})
        EXPECT_THAT(problem(name), HasSubstr(" is right"));
}

TEST_F(config_command, check_says_the_same_as_json) {
    write("[outbox]\nwindow = 0\n[routes]\nstock = \"http://127.0.0.1:1\"\n");
    const auto checked = run({"config", "check", "--json", "-c", path_});
    EXPECT_EQ(checked.code, exit_code::usage);
    const auto found = boost::json::parse(checked.out);
    EXPECT_EQ(found.at("ok"), false);
    ASSERT_EQ(found.at("problems").as_array().size(), 2U);
    EXPECT_EQ(found.at("problems").at(0).at("line"), 2);
    EXPECT_EQ(found.at("problems").at(1).at("line"), 4);
}

TEST_F(config_command, check_asks_the_database_and_changes_nothing_there) {
    const auto database = folder_.file("orders.db");
    write(
        "[service]\nid = \"orders\"\n[store]\nurl = \"sqlite:orders.db\"\n"
        "[handlers]\nA = \"sql:INSERT INTO t (n) VALUES (:n)\"\n");
    EXPECT_THAT(run({"config", "check", "-c", path_}).out, HasSubstr("no such table"));
    EXPECT_FALSE(std::filesystem::exists(database));
    std::ofstream(database).flush();
    test::sqlite_file(database).run("CREATE TABLE t (n)");
    const auto checked = run({"config", "check", "-c", path_});
    EXPECT_EQ(checked.code, exit_code::ok);
    EXPECT_EQ(checked.out, path_ + " is right: service orders, database " + database + "\n");
    EXPECT_EQ(test::sqlite_file(database).integer("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST_F(config_command, check_refuses_the_database_of_another_service) {
    const auto database = folder_.file("shop.db");
    ASSERT_EQ(run({"init", "--service", "shop", "--database", database}).code, exit_code::ok);
    const std::string store = "[store]\nurl = \"sqlite:shop.db\"\n";
    write("[service]\nid = \"other\"\n" + store);
    const auto checked = run({"config", "check", "-c", path_});
    EXPECT_EQ(checked.code, exit_code::usage);
    EXPECT_THAT(checked.out,
                ContainsRegex("p.toml:4: [^\n]*store.url belongs to the service 'shop'"));
    write("[service]\nid = \"shop\"\n" + store);
    EXPECT_EQ(run({"config", "check", "-c", path_}).code, exit_code::ok);
}

TEST_F(config_command, check_and_init_refuse_a_file_with_a_table_of_a_name_that_posthorn_needs) {
    const auto database = folder_.file("own.db");
    write("[service]\nid = \"own\"\n[store]\nurl = \"sqlite:own.db\"\n");
    const auto expect_refusal = [&](const std::string& name) {
        const auto says = "of its own named '" + name + "'";
        const auto checked = run({"config", "check", "-c", path_});
        EXPECT_EQ(checked.code, exit_code::usage);
        EXPECT_THAT(checked.out, HasSubstr(says));
        const auto made = run({"init", "-c", path_});
        EXPECT_NE(made.code, exit_code::ok);
        EXPECT_THAT(made.err, HasSubstr(says));
    };
    for (const std::string name : {"changes", "webhook_subscriptions", "webhook_failing"}) {
        std::filesystem::remove(database);
        std::ofstream(database).flush();
        test::sqlite_file(database).run("CREATE TABLE " + name + " (id)");
        expect_refusal(name);
    }
    std::filesystem::remove(database);
    ASSERT_EQ(run({"init", "-c", path_}).code, exit_code::ok);
    test::sqlite_file(database).run(  // As of a version that had no webhooks.
        "DELETE FROM posthorn_migrations WHERE folder = 'webhook'");
    expect_refusal("webhook_subscriptions");
}

TEST_F(config_command, check_refuses_two_listeners_on_one_port) {
    write("[listen]\nhttp = \"127.0.0.1:7500\"\nadmin = \"127.0.0.1:7500\"\n");
    const auto checked = run({"config", "check", "-c", path_});
    EXPECT_EQ(checked.code, exit_code::usage);
    EXPECT_THAT(checked.out, HasSubstr(":3: listen.http and listen.admin cannot both listen on"));
    write("[listen]\nhttp = \"0.0.0.0:7500\"\nadmin = \"127.0.0.1:7500\"\n");
    EXPECT_EQ(run({"config", "check", "-c", path_}).code, exit_code::usage);
    for (const auto* const fine : {"[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n",
                                   "[listen]\nhttp = \"127.0.0.1:1\"\nadmin = \"127.0.0.2:1\"\n",
                                   "[listen]\nhttp = \"0.0.0.0:1\"\nadmin = \"[::1]:1\"\n"}) {
        write(fine);
        EXPECT_EQ(run({"config", "check", "-c", path_}).code, exit_code::ok) << fine;
    }
}

TEST_F(config_command, check_reads_the_secrets_of_webhooks) {
    std::ofstream(folder_.file("short")) << "c2hvcnQ=\n";
    const auto subscriber = [](std::string_view secret) {
        return fmt::format(
            "[[webhooks.subscribers]]\nurl = \"https://shop.example/hook\"\ntype = \"*\"\n"
            "secret = \"{}\"\n",
            secret);
    };
    for (const auto& [text, says] :
         {std::pair(std::string("[webhooks]\nkey = \"env:POSTHORN_TEST_NOT_SET\"\n"),
                    ":2: webhooks.key: "),
          std::pair("[webhooks]\nkey = \"file:" + folder_.file("short") + "\"\n",
                    ":2: the secret has 5 bytes"),
          std::pair(subscriber("env:POSTHORN_TEST_NOT_SET"), "POSTHORN_TEST_NOT_SET"),
          std::pair(subscriber("file:" + folder_.file("short")), "secret")}) {
        write(text);
        const auto checked = run({"config", "check", "-c", path_});
        EXPECT_EQ(checked.code, exit_code::usage) << text;
        EXPECT_THAT(checked.out, HasSubstr(says)) << text;
    }
}

TEST_F(config_command, check_finds_misspelt_names_of_posthorns_own_parameters) {
    write(
        "[handlers]\nA = \"sql:INSERT INTO t VALUES (:_mesage_id)\"\n"
        "B = \"sql:INSERT INTO t VALUES (:_id, :_payload)\"\n"
        "C = \"sql:INSERT INTO t VALUES (:_error)\"\n"
        "[outbox]\non_dead = \"sql:UPDATE o SET why = :_error WHERE id = :_corelation_id\"\n");
    const auto checked = run({"config", "check", "-c", path_});
    EXPECT_THAT(checked.out,
                HasSubstr(":2: handlers.A: there is no :_mesage_id; did you mean :_message_id?"));
    EXPECT_THAT(checked.out, Not(HasSubstr(":3:"))) << "a field of the payload";
    EXPECT_THAT(checked.out, HasSubstr(":4: handlers.C: :_error is known of messages that were"));
    EXPECT_THAT(checked.out, HasSubstr(":6: outbox.on_dead: there is no :_corelation_id; did you "
                                       "mean :_correlation_id?"));
    EXPECT_THAT(checked.err, HasSubstr("has 3 mistakes"));
}

TEST_F(config_command, a_command_on_a_file_says_that_a_store_in_memory_has_none) {
    write("[store]\nurl = \"memory:\"\n");
    const auto refused = run({"stats", "-c", path_});
    EXPECT_EQ(refused.code, exit_code::usage);
    EXPECT_THAT(refused.err, HasSubstr("is in memory"));
    EXPECT_THAT(refused.err, HasSubstr("--url"));
}

TEST_F(config_command, the_doctor_says_that_a_store_in_memory_is_not_durable) {
    write("[store]\nurl = \"memory:\"\n");
    const auto found = run({"doctor", "-c", path_});
    EXPECT_EQ(found.code, exit_code::failed);
    EXPECT_THAT(found.out, HasSubstr("in memory and NOT DURABLE"));
}

}  // namespace
}  // namespace posthorn::cli
