#include <filesystem>
#include <fstream>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
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
