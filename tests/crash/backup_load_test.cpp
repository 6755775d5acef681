// Backups under load, and what becomes of both sides when one of them is restored.
#include <random>
#include <regex>

#include <gtest/gtest.h>

#include "crash/rounds.hpp"
#include "crash/service_pair.hpp"

namespace posthorn::crash {
namespace {

std::string field(const std::string& json, const std::string& name) {
    std::smatch found;
    return std::regex_search(json, found, std::regex("\"" + name + "\":\"([^\"]*)\""))
               ? found[1].str()
               : "";
}

std::int64_t epoch_of(const service_pair& pair, service_pair::side which) {
    return pair.database(which).integer(
        "SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'");
}

/// One service is backed up at work, goes on, is lost, and restored; its peer never stops. Gives
/// what is wrong in the end.
round_outcome round_of(std::uint64_t seed) {
    std::mt19937_64 dice(seed);
    const auto draw = [&](std::uint64_t from, std::uint64_t to) {
        return std::uniform_int_distribution<std::uint64_t>(from, to)(dice);
    };
    const test::temporary_directory folder;
    const service_pair::place place{.folder = folder.path(), .store_lines = "ballast = 0\n"};
    service_pair pair(place, place);
    const auto lost = draw(0, 1) == 0 ? service_pair::left : service_pair::right;
    const auto peer = service_pair::other(lost);
    pair.start(service_pair::left);
    pair.start(service_pair::right);
    pair.await_commits(lost, draw(1, 80));
    const auto made = pair.command(lost, {"backup", "--to", folder.file("backups"), "--json"});
    const auto backup = field(made, "file"), taken_at = field(made, "takenAt");
    pair.await_commits(lost, draw(0, 80));
    pair.kill(lost);
    const auto promised = pair.promised(lost);
    const auto epoch = epoch_of(pair, lost);
    pair.await_commits(peer, draw(0, 30));

    const auto restored = pair.command(lost, {"restore", backup, "--json"});
    const auto kept = field(restored, "kept");
    std::string found;
    const auto kept_links = test::sqlite_file(kept).integer("SELECT max(n) FROM chain");
    if (kept_links < promised) found += "a link that was promised is not in what was kept\n";
    const auto survived = pair.link_count(lost);
    if (static_cast<std::int64_t>(survived) !=
        test::sqlite_file(backup).integer("SELECT count(*) FROM chain"))
        found += "what was in the backup is not in what was restored\n";
    pair.command(peer, {"outbox", "replay", "--since", taken_at, "--destination",
                        lost == service_pair::left ? "left" : "right"});
    pair.start(lost);
    if (epoch_of(pair, lost) <= epoch) found += "the epoch was not raised\n";
    pair.await_commits(lost, draw(1, 30));
    for (const auto each : {lost, peer}) pair.quiet(each);
    pair.await_drained();
    for (const auto each : {lost, peer}) pair.stop(each);
    found += pair.faults(lost, kept) + pair.faults(peer) + pair.disorder(lost) +
             pair.disorder(peer) + pair.leaks();
    return {.faults = found,
            .counts = {{"messages", pair.link_count(lost) + pair.link_count(peer)},
                       {"lost with a database", static_cast<std::uint64_t>(kept_links) - survived},
                       {"restores", 1}}};
}

TEST(backup_under_load, loses_nothing_up_to_the_backup_and_a_replay_brings_the_rest_once) {
    test::proof_run run("backup", {.rounds = 5});
    EXPECT_EQ(do_rounds(run, 5, "backup_under_load.*", round_of), "");
}

}  // namespace
}  // namespace posthorn::crash
