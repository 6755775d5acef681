#include <csignal>
#include <fstream>

#include <sys/stat.h>

#include "integration/sidecar_fixture.hpp"

namespace posthorn {
namespace {

using integration::exit_0;
using integration::exit_2;
using integration::free_ports;
using integration::secret_with;
using integration::sidecar;
using test::run_process;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr test::process_end exit_1{1, 0};
constexpr auto dispatchers = "SELECT count(*) FROM posthorn_leases WHERE owner IS NOT NULL";

class doctor_command : public ::testing::Test {
protected:
    test::process_result examine(std::vector<std::string> more = {}) {
        std::vector<std::string> words{POSTHORN_PROGRAM, "doctor", "--config",
                                       folder_.file("orders.toml")};
        words.insert(words.end(), more.begin(), more.end());
        return run_process(words);
    }
    static std::string finding(const std::string& check, const std::string& level) {
        return "{\"check\":\"" + check + "\",\"level\":\"" + level + "\"";
    }

    test::temporary_directory folder_;
    std::string database_ = folder_.file("orders.db");
    std::string healthy_ = free_ports + secret_with("stock") + "[backup]\nfolder = \"copies\"\n";
};

TEST_F(doctor_command, finds_nothing_in_a_healthy_set_up_with_its_node_running) {
    sidecar node(folder_, "orders", healthy_);
    ASSERT_TRUE(node.says("is made and verified"));
    ASSERT_TRUE(node.comes_to(dispatchers, 1));
    const auto seen = examine({"--full", "--strict", "--json"});
    EXPECT_EQ(seen.end, exit_0) << seen.out << seen.err;
    EXPECT_THAT(seen.out, HasSubstr("{\"status\":\"ok\""));
    EXPECT_THAT(seen.out, HasSubstr("posthorn (process " + std::to_string(node.child().id()) +
                                    ") guards against it"))
        << "Debian's SQLite has the bug";
    EXPECT_THAT(seen.out, HasSubstr("a node runs and dispatches"));
    node.stop();
}

TEST_F(doctor_command, finds_nothing_in_a_healthy_set_up_without_a_node) {
    {
        sidecar node(folder_, "orders", healthy_);
        ASSERT_TRUE(node.says("is made and verified"));
        ASSERT_TRUE(node.comes_to(dispatchers, 1));
        node.child().send_signal(SIGKILL);
        ASSERT_TRUE(node.child().wait());
    }
    const auto log = std::filesystem::file_size(database_ + "-wal");
    const auto seen = examine({"--strict"});
    EXPECT_EQ(seen.end, exit_0) << seen.out << seen.err;
    EXPECT_THAT(seen.out, HasSubstr("the last one was killed"));
    EXPECT_EQ(std::filesystem::file_size(database_ + "-wal"), log) << "it only looks";
}

TEST_F(doctor_command, names_what_is_not_as_Posthorn_made_it_until_a_start_puts_it_right) {
    {
        sidecar node(folder_, "orders", healthy_);
        node.stop();
    }
    test::sqlite_file(database_).run(
        "DROP INDEX idx_queue_order; DROP VIEW posthorn_inbox;"
        "CREATE VIEW posthorn_inbox AS SELECT 1");
    const auto seen = examine();
    EXPECT_EQ(seen.end, exit_0) << seen.err;
    EXPECT_THAT(seen.out,
                HasSubstr("dropped: idx_queue_order; not as Posthorn made it: posthorn_inbox"));
    {
        sidecar node(folder_, "orders", healthy_);
        EXPECT_TRUE(node.says("made again what was dropped: idx_queue_order"));
        EXPECT_TRUE(node.says("had made it: posthorn_inbox"));
        node.stop();
    }
    EXPECT_THAT(examine().out, HasSubstr("its tables are those of this Posthorn"));
    test::sqlite_file(database_).run("ALTER TABLE posthorn_queue RENAME COLUMN answered TO told");
    const auto lost = examine();
    EXPECT_EQ(lost.end, exit_1);
    EXPECT_THAT(lost.out, HasSubstr("the column answered of the table posthorn_queue was dropped"));
}

TEST_F(doctor_command, names_messages_that_lost_what_leads_to_them_until_a_start_finds_them) {
    {
        sidecar node(folder_, "orders", healthy_);
        node.stop();
    }
    test::sqlite_file(database_).run(
        "INSERT INTO outbox_messages (destination, endpoint, payload, status)"
        " VALUES ('a', 'b', '{}', 'Dead'), ('a', 'b', '{}', 'Dead');"
        "INSERT INTO outbox_attempts VALUES (77, 1, 0, 'refused')");
    const auto seen = examine().out;
    EXPECT_THAT(seen, HasSubstr("2 messages have lost the rows that lead to them"));
    EXPECT_THAT(seen, HasSubstr("1 row beside messages belongs to none"));
    {
        sidecar node(folder_, "orders", healthy_);
        EXPECT_TRUE(node.says("3 rows that lead to messages were missing, belonged to none"));
        node.stop();
    }
    EXPECT_THAT(examine().out, Not(HasSubstr("lead")));
}

TEST_F(doctor_command, tells_all_that_is_weak_and_what_to_do) {
    {
        sidecar node(folder_, "orders", free_ports);
        node.stop();
    }
    std::ofstream(folder_.file("orders.toml"))
        << "[service]\nid = \"orders\"\n[store]\nurl = \"sqlite:orders.db\"\n"
           "synchronous = \"normal\"\n[listen]\nadmin = \"0.0.0.0:7401\"\n"
           "[secrets]\nstock = \"base64:AAECAwQFBgcICQoLDA0ODw==\"\n";
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
    ASSERT_EQ(::chmod(database_.c_str(), 0666), 0);
    test::sqlite_file user(database_);
    user.run(
        "INSERT INTO outbox_messages (destination, endpoint, payload, status)"
        " VALUES ('a', 'b', '{}', 'Dead')");
    user.run(
        "INSERT INTO outbox_messages (destination, endpoint, payload, created_at)"
        " VALUES ('a', 'b', '{}', 9999999999999)");
    const auto seen = examine({"--json"});
    EXPECT_EQ(seen.end, exit_1) << seen.out;
    EXPECT_THAT(seen.out, HasSubstr("{\"status\":\"bad\""));
    for (const auto* check : {"synchronous", "messages", "backups", "secrets", "guard"})
        EXPECT_THAT(seen.out, HasSubstr(finding(check, "warn"))) << check;
    for (const auto* check : {"listeners", "permissions", "clock"})
        EXPECT_THAT(seen.out, HasSubstr(finding(check, "bad"))) << check;
    const auto text = examine();
    EXPECT_THAT(text.out, AllOf(HasSubstr("why: "), HasSubstr("do:  ")));
    EXPECT_THAT(text.out, HasSubstr("chmod o-rwx " + database_));
}

TEST_F(doctor_command, finds_a_database_that_is_damaged_or_not_there) {
    sidecar(folder_, "orders", healthy_).stop();
    {
        test::sqlite_file file(database_);
        file.run("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    {
        std::fstream bytes(database_, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(8192);
        bytes << std::string(4096, '\x7f');
    }
    const auto damaged = examine({"--full", "--json"});
    EXPECT_EQ(damaged.end, exit_1) << damaged.out;
    EXPECT_THAT(damaged.out, Not(HasSubstr("{\"status\":\"ok\"")));
    std::filesystem::remove(database_);
    const auto missing = examine({"--json"});
    EXPECT_EQ(missing.end, exit_1);
    EXPECT_THAT(missing.out, HasSubstr(finding("tables", "bad")));
    EXPECT_THAT(missing.out, HasSubstr("there is no database at"));
    EXPECT_FALSE(std::filesystem::exists(database_)) << "it only looks";
}

TEST_F(doctor_command, names_a_route_without_a_secret) {
    std::ofstream(folder_.file("orders.toml"))
        << "[service]\nid = \"orders\"\n[routes]\nstock = \"http://127.0.0.1:1\"\n";
    const auto seen = examine({"--json"});
    EXPECT_EQ(seen.end, exit_1);
    EXPECT_THAT(seen.out, HasSubstr(finding("secrets", "bad")));
    EXPECT_THAT(seen.out, HasSubstr("orders.toml:4: routes.stock has no secret"));
}

TEST_F(doctor_command, counts_warnings_only_if_it_is_strict) {
    sidecar(folder_, "orders", free_ports).stop();
    EXPECT_EQ(examine().end, exit_0);
    EXPECT_EQ(examine({"--strict"}).end, exit_1) << "there are no backups";
}

TEST_F(doctor_command, exits_with_2_when_the_configuration_is_wrong) {
    std::ofstream(folder_.file("orders.toml")) << "[store]\nurll = \"x\"\n";
    EXPECT_EQ(examine().end, exit_2);
}

}  // namespace
}  // namespace posthorn
