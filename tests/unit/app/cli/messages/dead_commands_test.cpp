#include <fstream>

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/kit/progress.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"
#include "unit/app/cli/run.hpp"

namespace posthorn::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A service with messages that were given up.
class dead_commands : public testing::Test {
protected:
    void SetUp() override {
        const auto made = run({"init", "--config", config_, "--service", "orders"});
        ASSERT_EQ(made.code, exit_code::ok) << made.err;
    }

    printed dead(std::vector<std::string> arguments, const std::string& input = "") const {
        arguments.insert(arguments.begin(), "dead");
        arguments.insert(arguments.end(), {"--config", config_});
        return run(arguments, input);
    }
    boost::json::value json(std::vector<std::string> arguments) const {
        arguments.emplace_back("--json");
        const auto shown = dead(std::move(arguments));
        EXPECT_EQ(shown.err, "");
        return boost::json::parse(shown.out);
    }
    std::string bury(const std::string& destination = "stock",
                     const std::string& error = "no answer in 5 ms") const {
        const auto sent = run(
            {"send", destination, "OrderPlaced", R"({"secret":"canary"})", "--config", config_});
        auto id = sent.out.substr(0, sent.out.find('\n'));
        database().run(
            fmt::format("UPDATE outbox_messages SET status = 'Dead', last_error = '{}'"
                        " WHERE message_id = '{}'",
                        error, id));
        return id;
    }
    std::string status(const std::string& id) const {
        const auto shown = run({"outbox", "show", id, "--config", config_, "--json"});
        if (shown.code != exit_code::ok) return "none";
        return std::string(boost::json::parse(shown.out).at("status").as_string());
    }
    [[nodiscard]] test::sqlite_file database() const {
        return test::sqlite_file(folder_.file("data/orders.db"));
    }

    test::temporary_directory folder_;
    std::string config_ = folder_.file("orders.toml");
};

TEST_F(dead_commands, list_shows_a_table_by_filter_and_never_a_payload) {
    const auto a = bury("stock"), b = bury("billing", "refused: status 422");
    const auto all = dead({"list"});
    EXPECT_THAT(all.out, HasSubstr(a));
    EXPECT_THAT(all.out, HasSubstr("GIVEN UP"));
    EXPECT_THAT(all.out, Not(HasSubstr("canary")));
    EXPECT_THAT(dead({"list", "--destination", "billing"}).out, Not(HasSubstr(a)));
    EXPECT_THAT(dead({"list", "--error", "STATUS 422"}).out, HasSubstr(b));
    EXPECT_EQ(dead({"list", "--status", "expired"}).out, "none\n");
    EXPECT_EQ(dead({"list", "--since", "soon"}).code, exit_code::usage);
    EXPECT_THAT(dead({"requeue", "--destination", "stock", "--until", ""}).err,
                HasSubstr("--until: it is empty"));
    EXPECT_EQ(dead({"list", "--status", "Pending"}).code, exit_code::usage);
    EXPECT_THAT(dead({"list", "--limit", "1"}).out, HasSubstr("more: add --before 2"));
}

TEST_F(dead_commands, groups_count_by_cause) {
    bury("stock", "no answer in 5 ms");
    bury("stock", "no answer in 9 ms");
    bury("billing", "no answer in 9 ms");
    const auto groups = json({"groups"}).at("groups").as_array();
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups.at(0).at("count"), 2);
    const auto table = dead({"groups"}).out;
    EXPECT_THAT(table, HasSubstr("CAUSE"));
    EXPECT_THAT(table, HasSubstr("no answer in <n> ms"));
    const auto cause = std::to_string(groups.at(0).at("cause").as_int64());
    EXPECT_EQ(json({"list", "--cause", cause}).at("messages").as_array().size(), 2U);
}

TEST_F(dead_commands, requeue_many_by_filter_and_tell_how_many) {
    const auto a = bury("stock"), b = bury("stock"), c = bury("billing");
    const auto done = dead({"requeue", "--destination", "stock"});
    EXPECT_EQ(done.code, exit_code::ok) << done.err;
    EXPECT_EQ(done.out, "2 messages are pending\n");
    EXPECT_EQ(done.err, "");
    EXPECT_EQ(status(a) + status(b) + status(c), "PendingPendingDead");
    EXPECT_EQ(json({"requeue", "--all"}).at("changed"), 1);
    EXPECT_EQ(dead({"requeue", "--all"}).out, "0 messages are pending\n");
}

TEST_F(dead_commands, want_ids_or_a_filter_and_not_both) {
    const auto id = bury();
    EXPECT_EQ(dead({"requeue"}).code, exit_code::usage);
    EXPECT_EQ(dead({"requeue", id, "--all"}).code, exit_code::usage);
    EXPECT_EQ(dead({"requeue", "12"}).code, exit_code::usage);
    EXPECT_EQ(dead({"requeue", "--all", "--if-state", "x"}).code, exit_code::usage);
    EXPECT_EQ(dead({"resolve", id}).code, exit_code::usage) << "without a reason";
    EXPECT_EQ(dead({"delete", "--all"}).code, exit_code::usage) << "without --yes";
    EXPECT_EQ(status(id), "Dead");
}

TEST_F(dead_commands, resolve_keeps_the_reason_and_delete_nothing) {
    const auto a = bury(), b = bury();
    EXPECT_EQ(dead({"resolve", a, "--reason", "paid by hand"}).out, a + " is resolved\n");
    EXPECT_EQ(dead({"delete", b}).out, b + " is deleted\n");
    EXPECT_EQ(status(b), "none");
    const auto shown = json({"show", a});
    EXPECT_EQ(shown.at("resolution"), "paid by hand");
    EXPECT_THAT(dead({"list", "--status", "Resolved"}).out, HasSubstr("paid by hand"));
    EXPECT_EQ(dead({"delete", "--status", "Resolved", "--yes"}).out, "1 message is deleted\n");
}

TEST_F(dead_commands, edit_changes_what_a_message_says_and_requeues_it) {
    const auto id = bury();
    const auto done =
        dead({"edit", id, "--payload", "-", "--endpoint", "Reserve", "--requeue"}, "{\"a\":2}\n");
    ASSERT_EQ(done.code, exit_code::ok) << done.err;
    EXPECT_EQ(done.out, id + " is changed and pending\n");
    const auto shown = json({"show", id, "--payload"});
    EXPECT_EQ(shown.at("payload"), "{\"a\":2}");
    EXPECT_EQ(shown.at("endpoint"), "Reserve");
    EXPECT_EQ(shown.at("status"), "Pending");
    const auto other = bury();
    std::ofstream(folder_.file("body.json")) << "[7]\n";
    EXPECT_EQ(dead({"edit", other, "--payload-file", folder_.file("body.json")}).code,
              exit_code::ok);
    EXPECT_EQ(json({"show", other, "--payload"}).at("payload"), "[7]");
    EXPECT_EQ(status(other), "Dead");
    EXPECT_EQ(dead({"edit", other}).code, exit_code::usage);
    EXPECT_EQ(dead({"edit", other, "--payload", "{"}).code, exit_code::failed);
}

TEST_F(dead_commands, changes_of_the_file_are_kept_in_the_audit_with_the_user) {
    const auto id = bury();
    ASSERT_EQ(dead({"edit", id, "--payload", "{}", "--requeue"}).code, exit_code::ok);
    EXPECT_EQ(database().text("SELECT target || ' ' || outcome FROM posthorn_audit"),
              "/_rf/dead/" + id + "/edit done: payload, requeue");
    EXPECT_THAT(database().text("SELECT who FROM posthorn_audit"), testing::StartsWith("user "));
    EXPECT_EQ(dead({"list"}).code, exit_code::ok);
    EXPECT_EQ(database().integer("SELECT count(*) FROM posthorn_audit"), 1)
        << "looking changes nothing";
    EXPECT_THAT(dead({"show", id}).out, HasSubstr("edited by an operator: payload (it had"));
}

TEST_F(dead_commands, a_change_may_be_made_conditional_on_the_state_that_was_seen) {
    const auto id = bury();
    const std::string seen(json({"show", id}).at("state").as_string());
    ASSERT_EQ(dead({"edit", id, "--endpoint", "Reserve", "--if-state", seen}).code, exit_code::ok);
    const auto late = dead({"requeue", id, "--if-state", seen});
    EXPECT_EQ(late.code, exit_code::failed);
    EXPECT_THAT(late.err, HasSubstr("has changed since you looked"));
    EXPECT_EQ(status(id), "Dead");
}

TEST_F(dead_commands, past_its_time_a_message_needs_a_new_id_and_is_told_so) {
    const auto id = bury();
    database().run("UPDATE outbox_messages SET created_at = 1000, expires_at = 2000");
    for (const std::vector<std::string>& asked :
         {std::vector<std::string>{"requeue", id}, {"requeue", "--all"}}) {
        const auto refused = dead(asked);
        EXPECT_EQ(refused.code, exit_code::failed);
        EXPECT_THAT(refused.err, HasSubstr("--new-id"));
        EXPECT_THAT(refused.err, HasSubstr("a second time"));
    }
    const auto done = dead({"requeue", id, "--new-id"});
    EXPECT_EQ(done.code, exit_code::ok) << done.err;
    EXPECT_THAT(done.out, HasSubstr(id + " is pending as "));
    const auto now = done.out.substr(done.out.size() - 37, 36);
    EXPECT_EQ(status(now), "Pending");
    EXPECT_THAT(dead({"show", now}).out, HasSubstr("until then it was " + id));
}

TEST_F(dead_commands, a_new_id_has_the_time_to_live_that_is_asked_for) {
    const auto one = bury(), other = bury();
    EXPECT_EQ(dead({"requeue", one, "--new-id", "--expires-in", "1h"}).code, exit_code::ok);
    EXPECT_EQ(
        dead({"edit", other, "--payload", "1", "--requeue", "--new-id", "--expires-in", "1h"}).code,
        exit_code::ok);
    EXPECT_EQ(
        database().integer("SELECT count(*) FROM outbox_messages WHERE status = 'Pending' AND "
                           "expires_at - created_at = 3600000"),
        2);
    const auto third = bury();
    EXPECT_THAT(dead({"requeue", third, "--expires-in", "1h"}).err, HasSubstr("--new-id"));
    EXPECT_EQ(dead({"requeue", third, "--new-id", "--expires-in", "soon"}).code, exit_code::usage);
    EXPECT_EQ(status(third), "Dead");
}

TEST(progress, is_drawn_in_one_line_whatever_the_numbers) {
    EXPECT_EQ(progress_line({.done = 0, .all = 10}, "x"), "[....................]   0 % x");
    EXPECT_EQ(progress_line({.done = 5, .all = 10}, "x"), "[##########..........]  50 % x");
    EXPECT_EQ(progress_line({.done = 10, .all = 10}, "x"), "[####################] 100 % x");
    EXPECT_EQ(progress_line({.done = 99, .all = 10}, "x"), "[####################] 100 % x");
    EXPECT_EQ(progress_line({.done = -1, .all = 0}, "x"), "[....................]   0 % x");
}

}  // namespace
}  // namespace posthorn::cli
