// One message that was taken in, the audit, and looking again and again.
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
using testing::Not;
using testing::StartsWith;

class look_commands : public testing::Test {
protected:
    void SetUp() override {
        const auto made = run({"init", "--config", config_, "--service", "orders"});
        ASSERT_EQ(made.code, exit_code::ok) << made.err;
    }
    [[nodiscard]] std::vector<std::string> with_config(std::vector<std::string> words) const {
        words.insert(words.end(), {"--config", config_});
        return words;
    }
    [[nodiscard]] std::string look(const std::vector<std::string>& words) const {
        const auto seen = run(with_config(words));
        EXPECT_EQ(seen.code, exit_code::ok) << seen.err;
        return seen.out;
    }
    void change(const std::string& sql) const {
        test::sqlite_file(folder_.file("data/orders.db")).run(sql);
    }
    void add_audit() const {
        change(
            "INSERT INTO posthorn_audit (at, who, what, target, outcome) VALUES"
            " (1000, 'desk-3', 'POST', '/_rf/dead/requeue', 'answered 200'),"
            " (2000, 'wall', 'POST', '/_rf/dead/requeue', 'refused: a viewer'),"
            " (3000, 'desk-3', 'POST', '/_rf/outbox/lanes/a_b/pause', 'answered 409')");
    }
    [[nodiscard]] std::vector<std::int64_t> seqs(std::vector<std::string> words) const {
        words.insert(words.begin(), {"audit", "list", "--json"});
        std::vector<std::int64_t> all;
        for (const auto& each : boost::json::parse(look(words)).at("entries").as_array())
            all.push_back(each.at("seq").as_int64());
        return all;
    }

    test::temporary_directory folder_;
    std::string config_ = folder_.file("orders.toml");
    const std::string id_ = "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001";
};

TEST_F(look_commands, show_one_message_that_was_taken_in) {
    change(
        "INSERT INTO inbox_messages (source_service_id, message_id, endpoint, body_hash,"
        " processed_at, response_payload, expires_at) VALUES ('shop', '" +
        id_ + "', 'Ship', x'ab', 1000, '{\"paid\":\"canary\"}', 4000000000000)");
    const auto shown = look({"inbox", "show", id_});
    EXPECT_THAT(shown, ContainsRegex("sourceServiceId +shop"));
    EXPECT_THAT(shown, ContainsRegex("endpoint +Ship"));
    EXPECT_THAT(shown, ContainsRegex("state +processed"));
    EXPECT_THAT(shown, ContainsRegex("processedAt +1970-01-01T00:00:01"));
    EXPECT_THAT(shown, Not(HasSubstr("canary")));
    EXPECT_THAT(look({"inbox", "show", id_, "--payload"}), HasSubstr("canary"));
    const auto json =
        boost::json::parse(look({"inbox", "show", id_, "--source", "shop", "--json"}));
    EXPECT_EQ(json.at("received").at(0).at("messageId").as_string(), id_);
    EXPECT_EQ(run(with_config({"inbox", "show", id_, "--source", "web"})).code, exit_code::failed);
    EXPECT_EQ(run(with_config({"inbox", "show", "17"})).code, exit_code::usage);
}

TEST_F(look_commands, find_audit_rows_by_who_where_what_came_of_it_and_when) {
    add_audit();
    using testing::ElementsAre;
    EXPECT_THAT(seqs({}), ElementsAre(3, 2, 1));
    EXPECT_THAT(seqs({"--who", "desk-3"}), ElementsAre(3, 1));
    EXPECT_THAT(seqs({"--who", "desk"}), ElementsAre());
    EXPECT_THAT(seqs({"--target", "/DEAD/"}), ElementsAre(2, 1));
    EXPECT_THAT(seqs({"--target", "a_b"}), ElementsAre(3));
    EXPECT_THAT(seqs({"--target", "a%b"}), ElementsAre()) << "what LIKE takes for a wildcard";
    EXPECT_THAT(seqs({"--outcome", "Refused"}), ElementsAre(2));
    EXPECT_THAT(seqs({"--since", "1970-01-01T00:00:02Z"}), ElementsAre(3, 2));
    EXPECT_THAT(seqs({"--until", "1970-01-01T00:00:02Z"}), ElementsAre(1));
    EXPECT_THAT(seqs({"--limit", "1", "--before", "3"}), ElementsAre(2));
}

TEST_F(look_commands, say_how_to_go_on_in_the_audit_and_what_cannot_be_asked) {
    add_audit();
    EXPECT_THAT(look({"audit", "list", "--limit", "2"}), HasSubstr("more: add --before 2\n"));
    EXPECT_THAT(look({"audit", "list", "--limit", "4"}), Not(HasSubstr("more:")));
    const auto wrong = run(with_config({"audit", "list", "--since", "yesterday"}));
    EXPECT_EQ(wrong.code, exit_code::usage);
    EXPECT_THAT(wrong.err, HasSubstr("since is 'yesterday'; give a time like"));
    const auto unset = run(with_config({"audit", "list", "--until", ""}));
    EXPECT_EQ(unset.code, exit_code::usage);
    EXPECT_THAT(unset.err, HasSubstr("--until: it is empty; give a value, or leave it out"));
}

TEST_F(look_commands, look_again_until_they_are_told_to_end) {
    int looks = 0;
    std::vector<std::chrono::milliseconds> waits;
    const auto wait = [&](std::chrono::milliseconds time) {
        waits.push_back(time);
        if (++looks == 1)
            change(
                "INSERT INTO outbox_messages (destination, endpoint, payload)"
                " VALUES ('stock', 'Take', '{}')");
        return looks < 3;
    };
    const auto seen =
        run_on_console(with_config({"outbox", "list", "--watch=1.5"}), {.wait = wait});
    EXPECT_EQ(seen.code, exit_code::ok) << seen.err;
    EXPECT_THAT(waits, testing::Each(std::chrono::milliseconds(1500)));
    EXPECT_EQ(looks, 3);
    // Three blocks behind their times, with a line between them; no escape sequences.
    EXPECT_THAT(seen.out, ContainsRegex("^20[^\n]+Z\nnone\n\n20[^\n]+Z\nID"));
    EXPECT_THAT(seen.out, Not(HasSubstr("\033")));
}

TEST_F(look_commands, print_a_line_of_json_for_each_look) {
    int looks = 0;
    const auto seen = run_on_console(
        with_config({"stats", "--json", "--watch"}),
        {.columns = 80, .rows = 24, .colours = true, .wait = [&](auto) { return ++looks < 2; }});
    EXPECT_EQ(seen.code, exit_code::ok) << seen.err;
    std::istringstream lines(seen.out);
    int read = 0;
    for (std::string line; std::getline(lines, line); ++read)
        EXPECT_TRUE(boost::json::parse(line).as_object().contains("outbox"));
    EXPECT_EQ(read, 2);
}

TEST_F(look_commands, redraw_in_place_on_a_terminal_and_stay_within_it) {
    add_audit();
    int looks = 0;
    const auto seen =
        run_on_console(with_config({"audit", "list", "--watch"}),
                       {.columns = 40, .rows = 4, .wait = [&](auto) { return ++looks < 2; }});
    EXPECT_THAT(seen.out, StartsWith("\033[2J\033[H20"));
    const auto second = seen.out.rfind("\033[H");
    ASSERT_GT(second, 5U);
    const auto frame = seen.out.substr(second, seen.out.rfind("\033[J") - second);
    EXPECT_EQ(std::ranges::count(frame, '\n'), 3) << "four rows";
    EXPECT_THAT(frame, HasSubstr("…"));
    EXPECT_THAT(frame, Not(HasSubstr("answered 200"))) << "the last row does not fit";
}

TEST_F(look_commands, show_that_what_they_watch_went_away_and_go_on) {
    int looks = 0;
    const auto wait = [&](auto) {
        if (++looks == 1) change("ALTER TABLE posthorn_audit RENAME TO aside");
        if (looks == 2) change("ALTER TABLE aside RENAME TO posthorn_audit");
        return looks < 3;
    };
    const auto seen = run_on_console(with_config({"audit", "list", "--watch"}), {.wait = wait});
    EXPECT_EQ(seen.code, exit_code::ok);
    EXPECT_THAT(seen.out,
                ContainsRegex("none\n\n20[^\n]+Z\n[^\n]*no such table[^\n]*\n\n20[^\n]+Z\nnone"));
    EXPECT_EQ(run(with_config({"audit", "list", "--watch=0"})).code, exit_code::usage);
    EXPECT_EQ(run(with_config({"inbox", "show", id_, "--watch"})).code, exit_code::usage);
}

TEST_F(look_commands, say_what_a_file_does_not_know_and_whom_to_ask) {
    for (const auto& words : {std::vector<std::string>{"health"}, {"outbox", "lanes"}}) {
        EXPECT_THAT(run(with_config(words)).err, HasSubstr("; ask the node with --url\n"));
        auto as_json = words;
        as_json.emplace_back("--json");
        EXPECT_EQ(run(with_config(as_json)).err, "");
    }
    EXPECT_EQ(run(with_config({"outbox", "list"})).err, "");
}

TEST_F(look_commands, show_a_payload_of_a_queue_by_a_flag) {
    change(
        "INSERT INTO posthorn_queue (endpoint, source, message_id, message_type,"
        " content_type, payload, received_at) VALUES ('Ship', 'shop', 'm1', 'Signal',"
        " 'application/json', '{\"a\":\"canary\"}', 1000)");
    EXPECT_THAT(look({"queue", "show", "1", "--payload"}), HasSubstr("canary"));
    EXPECT_THAT(look({"queue", "show", "1"}), Not(HasSubstr("canary")));
}

TEST_F(look_commands, paint_states_where_the_terminal_or_the_user_says_so) {
    change(
        "INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('stock', 'T', '{}');"
        "UPDATE outbox_messages SET status = 'Dead', last_error = 'Dead'");
    const auto list = with_config({"outbox", "list"});
    const auto told = [&](const char* how) {
        auto words = list;
        words.emplace_back(how);
        return words;
    };
    const auto red = HasSubstr("\033[31mDead\033[0m");
    EXPECT_THAT(run_on_console(list, {.columns = 200, .colours = true}).out, red);
    EXPECT_THAT(run_on_console(list, {.columns = 200}).out, Not(HasSubstr("\033")));
    EXPECT_THAT(run_on_console(told("--color=always"), {}).out, red);
    EXPECT_THAT(run_on_console(told("--color=never"), {.columns = 200, .colours = true}).out,
                Not(HasSubstr("\033")));
    EXPECT_EQ(run_on_console(told("--color=maybe"), {}).code, exit_code::usage);
    const auto json = run_on_console(told("--json"), {.columns = 200, .colours = true}).out;
    EXPECT_THAT(json, Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace posthorn::cli
