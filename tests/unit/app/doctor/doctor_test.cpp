// A table for each check: what is healthy, what is weak, what is bad.
#include "app/doctor/doctor.hpp"

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using enum finding_level;
using change = std::function<void(doctor_facts&)>;

struct row {
    const char* what;
    change make;
    finding_level level;
};

const wall_time now = parse_iso8601("2026-02-14T12:00:00Z").value();

finding find(std::string_view check, const doctor_facts& facts) {
    const auto found = std::ranges::find(doctor_checks(), check, &doctor_check::name);
    if (found == doctor_checks().end()) throw std::runtime_error("there is no such check");
    return found->look(facts);
}

/// The rows against a healthy set-up, which each changes in one thing.
void expect(std::string_view check, const std::vector<row>& rows) {
    for (const auto& [what, make, level] : rows) {
        doctor_facts facts;
        facts.now = now;
        facts.newest_backup = now - 10min;
        make(facts);
        const auto found = find(check, facts);
        EXPECT_EQ(to_string(found.level), to_string(level)) << what << ": " << found.what;
        EXPECT_NE(found.what, "") << what;
        EXPECT_EQ(found.level == ok, found.why.empty()) << what << ": " << found.why;
        EXPECT_EQ(found.level == ok, found.todo.empty()) << what << ": " << found.todo;
    }
}

TEST(doctor, finds_nothing_in_a_healthy_set_up) {
    doctor_facts facts;
    facts.now = now;
    facts.newest_backup = now - 10min;
    for (const auto& check : doctor_checks())
        EXPECT_EQ(to_string(check.look(facts).level), "ok") << check.name;
}

TEST(doctor, looks_at_what_a_server_does_with_promises_and_lets_a_node_do) {
    expect("synchronous", {{"no fsync", [](auto& facts) { facts.server_is_synced = false; }, bad}});
    expect("tables", {{"a standby", [](auto& facts) { facts.server_is_read_only = true; }, bad},
                      {"rights", [](auto& facts) { facts.missing_rights = "GRANT"; }, bad}});
}

TEST(doctor, says_what_is_not_as_Posthorn_made_it) {
    expect("tables", {{"lost", [](auto& facts) { facts.file->schema.lost = {"the table a"}; }, bad},
                      {"dropped", [](auto& facts) { facts.file->schema.dropped = {"i"}; }, warn},
                      {"changed", [](auto& facts) { facts.file->schema.changed = {"t"}; }, warn}});
    doctor_facts facts;
    facts.file->schema = {.dropped = {"an_index"}, .changed = {"a_trigger", "a_view"}};
    EXPECT_EQ(find("tables", facts).what,
              "dropped: an_index; not as Posthorn made it: a_trigger, a_view");
}

TEST(doctor, says_that_the_numbers_of_messages_are_used_up) {
    expect("tables", {{"none", [](auto& facts) { facts.file->numbers_left = 0; }, bad},
                      {"past the end", [](auto& facts) { facts.file->numbers_left = -1; }, bad}});
}

TEST(doctor, gives_every_check_a_name_of_its_own) {
    std::vector<std::string_view> names;
    for (const auto& check : doctor_checks()) names.push_back(check.name);
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
    EXPECT_EQ(names.size(), 19U);
}

TEST(doctor, checks_synchronous) {
    expect("synchronous", {{"full", [](auto&) {}, ok},
                           {"normal", [](auto& f) { f.synchronous_full = false; }, warn},
                           {"in memory", [](auto& f) { f.durable = false; }, bad}});
}

TEST(doctor, checks_whether_others_write_a_file_that_is_said_to_be_the_nodes_alone) {
    const auto alone = [](doctor_facts& f) {
        f.shared = false;
        f.node_runs = true;
        f.guard = f.user = "posthorn (process 7)";
    };
    expect("shared", {{"shared", [](auto&) {}, ok},
                      {"alone", alone, ok},
                      {"not alone",
                       [&](auto& f) {
                           alone(f);
                           f.user = "python3 (process 8)";
                       },
                       warn},
                      {"no node, so that nobody waits",
                       [](auto& f) {
                           f.shared = false;
                           f.user = "python3 (process 8)";
                       },
                       ok}});
}

TEST(doctor, checks_the_inboxs_retention_against_the_senders_retry_window) {
    expect("inbox retention", {{"longer", [](auto& f) { f.inbox_retention_needed = 47h; }, ok},
                               {"as long", [](auto& f) { f.inbox_retention_needed = 48h; }, ok},
                               {"shorter", [](auto& f) { f.inbox_retention_needed = 49h; }, bad}});
}

TEST(doctor, checks_the_room_on_the_disk) {
    const auto free = [](std::uint64_t mib) {
        return [mib](doctor_facts& f) { f.disk_free_bytes = mib << 20U; };
    };
    expect("disk",
           {{"plenty", free(100'000), ok},
            {"too little", free(63), bad},
            {"below a mark of one's own",
             [](auto& f) { f.disk_low_water_bytes = f.disk_free_bytes + 1; }, bad},
            {"a twentieth", free((200 << 10U) / 20), ok},
            {"less than a twentieth", free((200 << 10U) / 20 - 1), warn},
            {"no room for a copy", [](auto& f) { f.database_bytes = f.disk_free_bytes + 1; }, warn},
            {"no room for a copy with its log",
             [](auto& f) {
                 f.database_bytes = f.disk_free_bytes;
                 f.log_bytes = 1;
             },
             warn}});
}

TEST(doctor, checks_the_clock_against_what_was_done) {
    expect("clock",
           {{"the file is older", [](auto& f) { f.file_changed_at = now - 1h; }, ok},
            {"a little drift", [](auto& f) { f.file_changed_at = now + 5min; }, ok},
            {"the file is of the future", [](auto& f) { f.file_changed_at = now + 6min; }, bad},
            {"a message is", [](auto& f) { f.file->newest = now + 1h; }, bad},
            {"unreadable", [](auto& f) { f.file.reset(); }, ok}});
}

TEST(doctor, checks_who_may_read_and_write) {
    using enum file_rights::kind;
    const auto with = [](file_rights::kind what, unsigned mode, bool closed = false) {
        return [=](doctor_facts& f) { f.rights.push_back({what, "x", mode, closed}); };
    };
    expect("permissions", {{"own database", with(database, 0660), ok},
                           {"database that all read", with(database, 0644), warn},
                           {"in a folder of one's own", with(database, 0666, true), ok},
                           {"database that all write", with(database, 0666), bad},
                           {"own backup", with(backup, 0640), ok},
                           {"backup that all read", with(backup, 0644), warn},
                           {"one in a folder of one's own", with(backup, 0644, true), ok},
                           {"open folder", with(folder, 0777), bad},
                           {"shared folder such as /tmp", with(folder, 01777), ok},
                           {"own folder", with(folder, 0755), ok},
                           {"own secret", with(secret, 0600), ok},
                           {"secret of a group", with(secret, 0640), bad},
                           {"configuration with secrets", with(configuration, 0600), ok},
                           {"the same, open", with(configuration, 0644), warn}});
}

TEST(doctor, names_every_file_that_is_open_to_others) {
    doctor_facts facts;
    facts.rights = {{file_rights::kind::database, "a.db", 0644, false},
                    {file_rights::kind::secret, "b.key", 0644, false}};
    const auto found = find("permissions", facts);
    EXPECT_EQ(found.level, bad);
    EXPECT_THAT(found.todo,
                testing::AllOf(testing::HasSubstr("a.db"), testing::HasSubstr("b.key")));
}

TEST(doctor, checks_signatures) {
    expect("signatures", {{"v2 alone", [](auto&) {}, ok},
                          {"an older one", [](auto& f) { f.legacy_peers = {"crm"}; }, warn}});
}

TEST(doctor, checks_secrets) {
    expect("secrets", {{"none", [](auto&) {}, ok},
                       {"long", [](auto& f) { f.secrets = {{"a", 32}, {"b", 64}}; }, ok},
                       {"one is short", [](auto& f) { f.secrets = {{"a", 32}, {"b", 31}}; }, warn},
                       {"unusable", [](auto& f) { f.secrets_error = "x:3: not there"; }, bad}});
}

TEST(doctor, checks_the_listeners) {
    const auto admin = [](std::size_t keys) {
        return [keys](doctor_facts& f) {
            f.admin_address = "0.0.0.0:7401";
            f.admin_is_loopback = false;
            f.admin_keys = keys;
        };
    };
    const auto http = [](bool tls) {
        return [tls](doctor_facts& f) {
            f.http_address = "0.0.0.0:7400";
            f.http_is_loopback = false;
            f.http_has_tls = tls;
        };
    };
    expect("listeners",
           {{"admin for all without keys", admin(0), bad},
            {"admin for all with keys", admin(1), warn},
            {"plain for all", http(false), warn},
            {"TLS for all", http(true), ok},
            {"loopback", [](auto& f) { f.admin_address = f.http_address = "127.0.0.1:1"; }, ok}});
}

TEST(doctor, says_what_brokers_confirm_before_it_is_on_disk) {
    expect("brokers", {{"none", [](auto&) {}, ok},
                       {"one", [](auto& f) { f.brokers = {"audit (NATS)"}; }, ok}});
    EXPECT_THAT(check_brokers({.brokers = {"audit (NATS)"}}).what,
                testing::HasSubstr("audit (NATS)"));
}

TEST(doctor, checks_what_a_standby_would_lack_and_who_can_listen) {
    const auto with = [](bool may_lack, bool is_open) {
        return [=](doctor_facts& f) {
            f.standby = "10.0.0.2:7402";
            f.standby_may_lack = may_lack;
            f.standby_link_is_open = is_open;
        };
    };
    expect("standby", {{"none", [](auto&) {}, ok},
                       {"has all", with(false, false), ok},
                       {"may lack some", with(true, false), warn},
                       {"in plain text", with(false, true), warn},
                       {"is one itself", [](auto& f) { f.is_standby = true; }, ok},
                       {"unusable", [](auto& f) { f.standby_error = "no key"; }, bad}});
}

TEST(doctor, checks_the_age_of_the_newest_backup) {
    const auto aged = [](std::chrono::minutes age, bool runs) {
        return [=](doctor_facts& f) {
            f.newest_backup = now - age;
            f.node_runs = runs;
        };
    };
    expect("backups", {{"young", aged(119min, true), ok},
                       {"old beside a node", aged(121min, true), bad},
                       {"old without a node", aged(121min, false), warn},
                       {"none yet", [](auto& f) { f.newest_backup.reset(); }, warn},
                       {"none wanted", [](auto& f) { f.backup_every.reset(); }, warn},
                       {"none, in memory",
                        [](auto& f) {
                            f.durable = false;
                            f.backup_every.reset();
                        },
                        ok},
                       {"unusable folder", [](auto& f) { f.backups_error = "cannot"; }, bad}});
}

TEST(doctor, checks_the_tables) {
    expect("tables",
           {{"the same step", [](auto&) {}, ok},
            {"an older one", [](auto& f) { f.file->step_known = 2; }, ok},
            {"a newer one", [](auto& f) { f.file->step = 2; }, bad},
            {"the right service", [](auto& f) { f.service = f.file->service = "orders"; }, ok},
            {"nobody's yet", [](auto& f) { f.service = "orders"; }, ok},
            {"another service",
             [](auto& f) {
                 f.service = "orders";
                 f.file->service = "billing";
             },
             bad},
            {"unreadable",
             [](auto& f) {
                 f.file.reset();
                 f.file_error = "not there";
             },
             bad},
            {"in memory, and made with the node",
             [](auto& f) {
                 f.durable = false;
                 f.file.reset();
             },
             ok}});
}

TEST(doctor, checks_integrity) {
    expect("integrity",
           {{"whole", [](auto&) {}, ok},
            {"whole, every index", [](auto& f) { f.checked_fully = true; }, ok},
            {"damaged", [](auto& f) { f.file->damage = "row 3 missing"; }, bad},
            {"unreadable, which another check tells", [](auto& f) { f.file.reset(); }, ok}});
}

TEST(doctor, checks_the_log_mode) {
    expect("log mode", {{"wal", [](auto&) {}, ok},
                        {"delete", [](auto& f) { f.file->journal_mode = "delete"; }, warn},
                        {"delete beside a node",
                         [](auto& f) {
                             f.file->journal_mode = "delete";
                             f.node_runs = true;
                         },
                         bad}});
}

TEST(doctor, checks_the_guard_where_sqlite_has_the_bug) {
    const auto state = [](int version, bool runs, std::string guard, std::string user) {
        return [=](doctor_facts& f) {
            f.sqlite_version = version;
            f.node_runs = runs;
            f.guard = guard;
            f.user = user;
        };
    };
    expect("guard", {{"mended", state(3051003, true, "", "a"), ok},
                     {"before the bug", state(3006023, true, "", "a"), ok},
                     {"the last that has it", state(3051002, true, "", "n"), bad},
                     {"the first that has it", state(3007000, true, "", "n"), bad},
                     {"a node with its guard", state(3040001, true, "n", "n"), ok},
                     {"a node without its guard", state(3040001, true, "", "n"), bad},
                     {"nobody", state(3040001, false, "", ""), ok},
                     {"a program without a node", state(3040001, false, "", "p"), warn},
                     {"one that checkpoints", state(3040001, false, "p", "p"), warn}});
}

TEST(doctor, checks_the_size_of_the_log) {
    const auto log = [](std::uint64_t mib) {
        return [mib](doctor_facts& f) { f.log_bytes = mib << 20U; };
    };
    expect("log size", {{"small", log(255), ok},
                        {"large", log(256), warn},
                        {"huge", log(1024), bad},
                        {"huge, with somebody who reads",
                         [&](auto& f) {
                             log(2000)(f);
                             f.user = "python3";
                         },
                         bad}});
}

TEST(doctor, checks_vacuum) {
    expect("vacuum", {{"incremental", [](auto&) {}, ok},
                      {"none", [](auto& f) { f.file->auto_vacuum = 0; }, warn},
                      {"full", [](auto& f) { f.file->auto_vacuum = 1; }, warn}});
}

TEST(doctor, checks_who_dispatches) {
    expect("dispatcher", {{"nobody", [](auto&) {}, ok},
                          {"a node",
                           [](auto& f) {
                               f.node_runs = true;
                               f.file->lease_owner = "x";
                           },
                           ok},
                          {"one that was killed", [](auto& f) { f.file->lease_owner = "x"; }, ok}});
    doctor_facts killed;
    killed.file->lease_owner = "x";
    EXPECT_THAT(find("dispatcher", killed).what, testing::HasSubstr("killed"));
}

TEST(doctor, names_triggers_on_its_tables_that_are_not_posthorns) {
    doctor_facts facts;
    facts.file->schema.foreign = {"the trigger hush on outbox_messages"};
    const auto said = find("tables", facts);
    EXPECT_EQ(said.level, warn);
    EXPECT_THAT(said.what, testing::HasSubstr("the trigger hush on outbox_messages"));
}

TEST(doctor, names_what_makes_messages_undeliverable_by_destination) {
    doctor_facts facts;
    auto& waiting = facts.file->backlog.destinations;
    waiting.push_back({.destination = "billing",
                       .pending = {2},
                       .undeliverable = {1},
                       .undeliverable_error = "no handler for Charge"});
    waiting.push_back({.destination = "stock",
                       .pending = {3},
                       .undeliverable = {3},
                       .undeliverable_error = "no route"});
    EXPECT_EQ(
        find("messages", facts).what,
        "4 of those that wait are undeliverable: for stock (no route), for billing (no handler "
        "for Charge)");
}

TEST(doctor, checks_messages_that_wait_for_a_person) {
    expect("messages",
           {{"none", [](auto&) {}, ok},
            {"a dead one", [](auto& f) { f.file->dead = 1; }, warn},
            {"an expired one", [](auto& f) { f.file->expired = 1; }, warn},
            {"one behind a dead one", [](auto& f) { f.file->blocked.keys.resize(1); }, warn},
            {"an undeliverable one",
             [](auto& f) {
                 f.file->backlog.destinations.push_back(
                     {.destination = "stock",
                      .pending = {1},
                      .undeliverable = {1},
                      .undeliverable_error = "no_route: no route to stock"});
             },
             warn},
            {"one that no row leads to", [](auto& f) { f.file->beside.lost = 1; }, warn},
            {"a row of none", [](auto& f) { f.file->beside.odd = 1; }, warn}});
    doctor_facts all;
    all.file->dead = 1;
    all.file->expired = 120;
    all.file->blocked.keys = {
        {{"stock", "acct-7", ""}, {"01a1", outbox_status::dead, std::nullopt}, {7, false}}};
    const auto found = find("messages", all);
    EXPECT_EQ(found.what,
              "1 message is dead\n120 messages expired before they were delivered\n7 messages "
              "wait behind one of their order key that was given up, such as 7 for 'stock' behind "
              "01a1 (Dead) of order key 'acct-7'");
    EXPECT_EQ(found.todo,
              "see 'posthorn dead list'\nsee 'posthorn dead list --status Expired'\nsee 'posthorn "
              "stats'");
}

}  // namespace
}  // namespace posthorn
