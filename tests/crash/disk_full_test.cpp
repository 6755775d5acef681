// Disks that fill up under two services at work, and are emptied again.
#include <random>

#include <gtest/gtest.h>

#include "crash/rounds.hpp"
#include "crash/service_pair.hpp"
#include "support/small_disk.hpp"

namespace posthorn::crash {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr auto store_lines = "disk_low_water = \"2MiB\"\nballast = \"1MiB\"\n";

/// Two services, of which one has a disk that fills up while both work.
class full_disk {
public:
    full_disk(std::uint64_t seed, test::small_disk& disk) : dice_(seed), disk_(disk) {}

    round_outcome run() {
        for (const auto each : {service_pair::left, service_pair::right}) pair_.start(each);
        pair_.await(full_, {"health green"});
        pair_.await_commits(full_, draw(1, 100));
        // None at all, less than the ballast can help with, or only below the mark.
        const std::uint64_t rooms[] = {0, draw(1, 256) * 4096, draw(257, 448) * 4096};
        disk_.fill_up_to(rooms[draw(0, 2)]);
        pair_.await(full_, {"refused store_full", "health red"});
        // Its peer goes on meanwhile.
        pair_.await_commits(peer_, draw(1, 100));
        disk_.empty();
        pair_.await(full_, {"health green"});
        pair_.await_commits(full_, draw(1, 50));
        for (const auto each : {full_, peer_}) pair_.quiet(each);
        pair_.await_drained();
        for (const auto each : {full_, peer_}) pair_.stop(each);
        return {.faults = pair_.faults(full_) + pair_.faults(peer_) + pair_.disorder(full_) +
                          pair_.disorder(peer_) + pair_.leaks(),
                .counts = {{"messages", pair_.link_count(full_) + pair_.link_count(peer_)},
                           {full_ == service_pair::left ? "left" : "right", 1}}};
    }

private:
    std::uint64_t draw(std::uint64_t from, std::uint64_t to) {
        return std::uniform_int_distribution<std::uint64_t>(from, to)(dice_);
    }

    std::mt19937_64 dice_;
    test::small_disk& disk_;
    test::temporary_directory folder_;
    service_pair::side full_ = draw(0, 1) == 0 ? service_pair::left : service_pair::right;
    service_pair::side peer_ = service_pair::other(full_);
    service_pair::place small_{.folder = std::filesystem::path(disk_.file("")).parent_path(),
                               .store_lines = store_lines};
    service_pair::place large_{.folder = folder_.path(), .store_lines = "ballast = 0\n"};
    service_pair pair_{full_ == service_pair::left ? small_ : large_,
                       full_ == service_pair::left ? large_ : small_};
};

TEST(full_disk, refuses_new_work_loses_none_and_recovers_without_a_restart) {
    // A process leaves the mounts of others once, and before it has threads.
    std::vector<std::unique_ptr<test::small_disk>> disks;
    constexpr std::uint64_t at_once = 10;
    for (std::uint64_t i = 0; i < at_once; ++i)
        disks.push_back(std::make_unique<test::small_disk>(24 * mib));
    if (!disks.front()->is_there()) GTEST_SKIP() << "no right to mount a small disk here";
    test::proof_run run("disk full", {.rounds = 20});
    EXPECT_EQ(
        do_rounds(run, at_once, "full_disk.*",
                  [&](std::uint64_t seed) {
                      auto& disk = *disks[seed % at_once];
                      auto outcome = full_disk(seed, disk).run();
                      for (const auto& each : std::filesystem::directory_iterator(disk.file("")))
                          std::filesystem::remove_all(each);
                      return outcome;
                  }),
        "");
}

}  // namespace
}  // namespace posthorn::crash
