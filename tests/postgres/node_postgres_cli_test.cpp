// Commands on a store that is on a server.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres/postgres_server.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

class commands_on_postgres : public testing::Test {
protected:
    [[nodiscard]] test::process_result run(std::vector<std::string> words) const {
        words.insert(words.begin(), POSTHORN_PROGRAM);
        for (const auto& more : {std::string("--database"), test::postgres_url(),
                                 std::string("--schema"), place_.schema()})
            words.push_back(more);
        return test::run_process(words);
    }
    [[nodiscard]] std::size_t tables() const {
        return test::postgres_client(test::postgres_url())
            .rows("SELECT 1 FROM pg_tables WHERE schemaname = '" + place_.schema() + "'")
            .size();
    }

    test::temporary_directory folder_;
    test::postgres_place place_;
};

TEST_F(commands_on_postgres, make_no_tables_in_order_to_look_and_say_who_does) {
    const std::vector<std::vector<std::string>> all{
        {"stats"}, {"outbox", "list"}, {"dead", "list"}, {"inbox", "list"}};
    for (const auto& words : all) {
        const auto told = run(words);
        EXPECT_EQ(told.end.exit_code, 1) << words.front();
        EXPECT_THAT(told.err, HasSubstr("posthorn init")) << words.front();
    }
    EXPECT_EQ(tables(), 0U);
    const auto config = folder_.file("orders.toml");
    std::ofstream(config) << "[service]\nid = \"orders\"\n[store]\nurl = \"" << test::postgres_url()
                          << "\"\nschema = \"" << place_.schema() << "\"\n";
    const auto made = test::run_process({POSTHORN_PROGRAM, "init", "--config", config});
    ASSERT_EQ(made.end.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("made  postgresql://"));
    const auto again = test::run_process({POSTHORN_PROGRAM, "init", "--config", config});
    EXPECT_THAT(again.out, HasSubstr("was there: postgresql://"));
    for (const auto& words : all) EXPECT_EQ(run(words).end.exit_code, 0) << words.front();
    for (const auto* const more : {"--json", "--dry-run"}) {
        const auto replay = run({"outbox", "replay", "--since", "1h", more});
        EXPECT_EQ(replay.end.exit_code, 2) << replay.err;
        EXPECT_THAT(replay.err, HasSubstr("this one is on a server"));
    }
}

TEST_F(commands_on_postgres, start_from_nothing_with_a_schema_of_their_own) {
    const auto config = folder_.file("new.toml");
    const auto init = [&](const std::string& url) {
        return test::run_process({POSTHORN_PROGRAM, "init", "--config", config, "--service",
                                  "orders", "--database", url, "--schema", place_.schema()});
    };
    const auto mistaken = init("postgresql://nobody@127.0.0.1:1/x");
    EXPECT_EQ(mistaken.end.exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(config)) << "or the next try would take it for granted";
    const auto made = init(test::postgres_url());
    ASSERT_EQ(made.end.exit_code, 0) << made.err;
    EXPECT_EQ(run({"stats"}).end.exit_code, 0);
    EXPECT_EQ(init(test::postgres_url()).end.exit_code, 0);
    const auto other =
        test::run_process({POSTHORN_PROGRAM, "init", "--config", config, "--schema", "another"});
    EXPECT_EQ(other.end.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("store.schema = \"" + place_.schema() + "\""));
}

TEST_F(commands_on_postgres, check_a_configuration_with_the_server) {
    const auto config = folder_.file("orders.toml");
    const auto check = [&](const std::string& service, const std::string& url) {
        std::ofstream(config) << "[service]\nid = \"" << service << "\"\n[store]\nurl = \"" << url
                              << "\"\nschema = \"" << place_.schema() << "\"\n";
        return test::run_process({POSTHORN_PROGRAM, "config", "check", "--config", config});
    };
    EXPECT_EQ(check("orders", test::postgres_url()).end.exit_code, 0) << "there is no schema yet";
    EXPECT_EQ(tables(), 0U);
    ASSERT_EQ(test::run_process({POSTHORN_PROGRAM, "init", "--config", config}).end.exit_code, 0);
    EXPECT_EQ(check("orders", test::postgres_url()).end.exit_code, 0);
    const auto others = check("stock", test::postgres_url());
    EXPECT_EQ(others.end.exit_code, 2);
    EXPECT_THAT(others.out,
                HasSubstr(":4: the database of store.url belongs to the service 'orders'"));
    const auto mistyped = check("orders", "postgresql://x@127.0.0.1:1/x?connect_timout=3");
    EXPECT_EQ(mistyped.end.exit_code, 2);
    EXPECT_THAT(mistyped.out, HasSubstr("connect_timout"));
    const auto silent = check("orders", "postgresql://x@127.0.0.1:1/x");
    EXPECT_EQ(silent.end.exit_code, 1);
    EXPECT_THAT(silent.out, HasSubstr("note: the database was not checked: "));
    EXPECT_THAT(silent.out, Not(HasSubstr("is right")));
}

TEST_F(commands_on_postgres, name_the_right_to_connect_that_is_missing) {
    const auto name = "of_" + place_.schema();
    test::postgres_client admin(test::postgres_url());
    const auto must = [&](const std::string& sql) {
        EXPECT_EQ(admin.run(sql), std::nullopt) << sql;
    };
    must("CREATE ROLE " + name + " LOGIN PASSWORD 'p'");
    must("CREATE DATABASE " + name);
    must("REVOKE ALL ON DATABASE " + name + " FROM PUBLIC");
    auto url = test::postgres_url();
    url.replace(url.find("posthorn:posthorn@"), 18, name + ":p@");
    url.replace(url.rfind('/') + 1, std::string::npos, name);
    const auto refused = test::run_process({POSTHORN_PROGRAM, "stats", "--database", url});
    EXPECT_EQ(refused.end.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("GRANT CONNECT ON DATABASE " + name + " TO " + name));
    must("DROP DATABASE " + name);
    must("DROP ROLE " + name);
}

TEST_F(commands_on_postgres, tell_a_role_with_which_no_node_can_work) {
    ASSERT_EQ(test::run_process({POSTHORN_PROGRAM, "init", "--config", folder_.file("new.toml"),
                                 "--service", "orders", "--database", test::postgres_url(),
                                 "--schema", place_.schema()})
                  .end.exit_code,
              0);
    const auto role = "role_" + place_.schema();
    test::postgres_client admin(test::postgres_url());
    const auto must = [&](const std::string& sql) {
        EXPECT_EQ(admin.run(sql), std::nullopt) << sql;
    };
    auto url = test::postgres_url();
    url.replace(url.find("posthorn:posthorn@"), 18, role + ":p@");
    const auto config = folder_.file("role.toml");
    std::ofstream(config) << "[service]\nid = \"orders\"\n[store]\nurl = \"" << url
                          << "\"\nschema = \"" << place_.schema() << "\"\n";
    const auto doctor = [&] {
        return test::run_process({POSTHORN_PROGRAM, "doctor", "--config", config}).out;
    };
    must("CREATE ROLE " + role + " LOGIN PASSWORD 'p'");
    must("GRANT USAGE ON SCHEMA " + place_.schema() + " TO " + role);
    must("GRANT SELECT ON ALL TABLES IN SCHEMA " + place_.schema() + " TO " + role);
    EXPECT_THAT(doctor(), HasSubstr("GRANT ALL ON ALL TABLES IN SCHEMA"));
    must("GRANT ALL ON ALL TABLES IN SCHEMA " + place_.schema() + " TO " + role);
    must("GRANT USAGE ON ALL SEQUENCES IN SCHEMA " + place_.schema() + " TO " + role);
    EXPECT_THAT(doctor(), Not(HasSubstr("GRANT")));
    must("ALTER ROLE " + role + " SET default_transaction_read_only = on");
    EXPECT_THAT(doctor(), HasSubstr("read-only for this role"));
    must("DROP OWNED BY " + role);
    must("DROP ROLE " + role);
}

TEST_F(commands_on_postgres, name_what_expired_and_what_waits_behind_it_and_a_clock_that_lags) {
    const auto config = folder_.file("new.toml");
    const auto made =
        test::run_process({POSTHORN_PROGRAM, "init", "--config", config, "--service", "orders",
                           "--database", test::postgres_url(), "--schema", place_.schema()});
    ASSERT_EQ(made.end.exit_code, 0) << made.err;
    const auto look = [&](const std::string& command) {
        return test::run_process({POSTHORN_PROGRAM, command, "--config", config}).out;
    };
    EXPECT_THAT(look("health"), HasSubstr("orders green"));
    EXPECT_THAT(look("doctor"), HasSubstr("none is dead, expired, undeliverable or blocked"));
    test::postgres_client admin(place_.url());
    for (const auto* sql :
         {"INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
          " VALUES ('stock', 'Take', '{}', 'acct-7')",
          "INSERT INTO outbox_messages (destination, endpoint, payload, order_key, created_at,"
          " expires_at) SELECT 'stock', 'Take', '{}', 'acct-7', created_at + 3600000,"
          " expires_at + 3600000 FROM outbox_messages",
          "UPDATE outbox_messages SET status = 'Expired'"
          " WHERE seq = (SELECT min(seq) FROM outbox_messages)"})
        EXPECT_EQ(admin.run(sql), std::nullopt) << sql;
    EXPECT_THAT(look("health"), HasSubstr("orders yellow"));
    const auto found = look("doctor");
    EXPECT_THAT(found, HasSubstr("1 message expired before it was delivered"));
    EXPECT_THAT(found, HasSubstr("1 message waits behind one of its order key"));
    EXPECT_THAT(found, HasSubstr("of order key 'acct-7'"));
    EXPECT_THAT(found, Not(HasSubstr("lead")));
    EXPECT_THAT(found, HasSubstr("but the database was used at"));
    EXPECT_THAT(look("stats"), HasSubstr("BLOCKED BY"));
    for (const auto* sql : {"DELETE FROM outbox_due", "UPDATE outbox_closed SET tenant = 'x'",
                            "UPDATE outbox_intake SET seen = pg_current_snapshot(),"
                            " seen_but_for = '{}'"})
        EXPECT_EQ(admin.run(sql), std::nullopt) << sql;
    EXPECT_THAT(look("doctor"), HasSubstr("1 message has lost the row that leads to it"));
    EXPECT_THAT(look("doctor"), HasSubstr("1 row beside messages belongs to none"));
}

TEST_F(commands_on_postgres, show_one_message_taken_in_and_the_audit_by_its_filters) {
    const auto config = folder_.file("new.toml");
    const auto made =
        test::run_process({POSTHORN_PROGRAM, "init", "--config", config, "--service", "orders",
                           "--database", test::postgres_url(), "--schema", place_.schema()});
    ASSERT_EQ(made.end.exit_code, 0) << made.err;
    const std::string id = "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001";
    test::postgres_client admin(place_.url());
    for (const auto& sql :
         {"INSERT INTO inbox_messages (source_service_id, message_id, endpoint, body_hash,"
          " processed_at, response_payload, expires_at) SELECT source, '" +
              id +
              "', 'Ship', '\\xab', 1000, '{\"paid\":true}', 4000000000000"
              " FROM unnest(ARRAY['web', 'shop', 'zoo']) source",
          std::string("INSERT INTO posthorn_audit (at, who, what, target, outcome) VALUES"
                      " (1000, 'desk-3', 'POST', '/_rf/dead/requeue', 'answered 200'),"
                      " (2000, 'wall', 'POST', '/_rf/dead/requeue', 'refused'),"
                      " (3000, 'desk-3', 'POST', '/_rf/outbox/lanes/a_b/pause', 'answered 409')")})
        EXPECT_EQ(admin.run(sql), std::nullopt) << sql;
    const auto look = [&](std::vector<std::string> words) {
        words.insert(words.begin(), POSTHORN_PROGRAM);
        words.insert(words.end(), {"--config", config});
        const auto done = test::run_process(words);
        EXPECT_EQ(done.end.exit_code, 0) << done.err;
        return done.out;
    };
    const auto shown = look({"inbox", "show", id, "--payload"});
    for (const auto* word : {"web", "shop", "zoo", "Ship", "{\"paid\":true}"})
        EXPECT_THAT(shown, HasSubstr(word));
    EXPECT_THAT(look({"inbox", "show", id, "--source", "web"}), Not(HasSubstr("zoo")));
    EXPECT_THAT(look({"audit", "list", "--target", "A_B"}), HasSubstr("answered 409"));
    EXPECT_THAT(look({"audit", "list", "--target", "a%b"}), HasSubstr("none"));
    const auto of_wall = look({"audit", "list", "--who", "wall", "--since", "1970-01-01T00:00:02Z",
                               "--until", "1970-01-01T00:00:03Z", "--outcome", "REFUSED"});
    EXPECT_THAT(of_wall, HasSubstr("refused"));
    EXPECT_THAT(of_wall, Not(HasSubstr("desk-3")));
}

TEST_F(commands_on_postgres, refuse_what_looks_like_a_server_without_showing_its_password) {
    const auto config = folder_.file("new.toml");
    const std::vector<std::vector<std::string>> all{
        {"stats", "--database", "pg://u:secret@h/d"},
        {"init", "--config", config, "--service", "orders", "--database", "pg://u:secret@h/d"},
        {"migrate", "sqlite:" + folder_.file("orders.db"), "postgressql://u:secret@h/d"},
        {"migrate", "postgresql://u:secret@h/d", "sqlite:" + folder_.file("orders.db")}};
    for (auto words : all) {
        words.insert(words.begin(), POSTHORN_PROGRAM);
        const auto told = test::run_process(words);
        EXPECT_EQ(told.end.exit_code, 2) << words[1];
        EXPECT_THAT(told.err + told.out, Not(HasSubstr("secret"))) << words[1];
        EXPECT_THAT(told.err, HasSubstr("u:(hidden)@h/d")) << words[1];
    }
    EXPECT_FALSE(std::filesystem::exists(config));
}

TEST_F(commands_on_postgres, keep_a_configuration_with_a_password_to_its_owner) {
    const auto config = folder_.file("new.toml");
    const auto made =
        test::run_process({POSTHORN_PROGRAM, "init", "--config", config, "--service", "orders",
                           "--database", test::postgres_url(), "--schema", place_.schema()});
    ASSERT_EQ(made.end.exit_code, 0) << made.err;
    namespace fs = std::filesystem;
    EXPECT_EQ(fs::status(config).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    const auto doctor = [&] {
        return test::run_process({POSTHORN_PROGRAM, "doctor", "--config", config}).out;
    };
    fs::permissions(folder_.path(), fs::perms::others_exec, fs::perm_options::add);
    EXPECT_THAT(doctor(), Not(HasSubstr("chmod")));
    fs::permissions(config, fs::perms::others_read, fs::perm_options::add);
    EXPECT_THAT(doctor(), HasSubstr("chmod o-rwx " + config));
}

}  // namespace
}  // namespace posthorn::integration
