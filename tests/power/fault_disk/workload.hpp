#pragma once

#include <cstdint>
#include <string>

#include "power/fault_disk/plain_database.hpp"
#include "support/fault_disk/dice.hpp"

namespace posthorn {

/// How the database of a workload is set up.
struct workload_options {
    std::string journal = "wal";
    std::string synchronous = "full";
    bool attach_second_file = false;  // The second table lies in a file of its own.
    bool garbage = false;
    std::uint64_t cuts = 5;             // Of one disk.
    std::uint64_t operations_max = 90;  // From one cut to the next.
};

/// What a series of cuts did.
struct workload_outcome {
    std::uint64_t cuts = 0;
    std::uint64_t acknowledged = 0;    // Commits that returned OK.
    std::uint64_t lost = 0;            // Of these, gone after a cut.
    std::uint64_t torn = 0;            // Cuts after which a transaction was there by half.
    std::uint64_t damaged = 0;         // Cuts after which integrity_check complained.
    std::uint64_t survived_doubt = 0;  // Commits that failed and yet were there.
    std::uint64_t first_bad_seed = 0;  // Of many: where something was lost, torn or damaged.
};

/// Commits transactions on one disk until its power goes, looks what is left, and goes on.
///
/// Each transaction writes row i of table `a`, with a payload of up to three pages, the same row of
/// table `b`, and the sum of all i into `total`, so that half a transaction shows.
class workload {
public:
    workload(std::uint64_t seed, workload_options options);
    workload_outcome run();

private:
    void open();
    void prepare();
    bool commit_one();
    void live_until_the_cut();
    void judge();
    void mend(std::uint64_t rows);

    workload_options options_;
    faults::dice chance_;
    fault_disk disk_;
    std::unique_ptr<plain_database> database_;
    std::uint64_t last_ = 0;  // The highest row known to be committed.
    workload_outcome outcome_;
};

/// Adds up the outcomes of many seeds.
workload_outcome run_seeds(std::uint64_t count, const workload_options& options);

}  // namespace posthorn
