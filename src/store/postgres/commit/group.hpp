#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time/clock.hpp"
#include "store/commit/member.hpp"
#include "store/commit/unit_run.hpp"
#include "store/postgres/commit/session.hpp"

namespace posthorn::postgres {

/// Runs units in one transaction and commits them together. As long as none fails, that takes no
/// savepoints; if one does, all of them run again, each in its own (docs/adr/0047).
///
/// Threads: its session's, but for `unit_age`.
class group {
public:
    /// The server remembers 64 subtransactions of a transaction at little cost.
    static constexpr int savepoints_max = 60;

    explicit group(const clock& time) : time_(time), run_unit_(time) {}

    struct outcome {
        commit_end end = commit_end::committed;
        std::size_t members = 0;  // How many took part; the rest is for the next transaction.
    };
    /// `number` is that of the commit.
    outcome commit(session& on, std::span<member> members, std::int64_t number);

    [[nodiscard]] std::chrono::nanoseconds unit_age() const { return run_unit_.age(); }

private:
    outcome commit_in_savepoints(session& on, std::span<member> members, std::int64_t number);
    /// Nothing if one failed: then nothing is stored, and no member has an outcome.
    std::optional<commit_end> commit_bare(session& on, std::span<member> members,
                                          std::int64_t number);
    /// Of all those that run without savepoints; false if one failed.
    bool run_all_bare(session& on, std::span<member> members);
    bool run_bare(session& on, member& one);
    bool insert_ahead(session& on, std::span<member> members);
    bool flush_within(session& on, std::chrono::milliseconds limit);
    static bool roll_back(session& on);
    std::optional<commit_end> take_all_back(session& on, std::span<member> members);
    void begin(session& on);
    bool run(session& on, member& one, bool is_shared);
    result<> run_work(session& on, member& one);
    result<> finish(session& on, bool is_shared);
    commit_end conclude(session& on, std::span<member> members, std::int64_t number);

    const clock& time_;
    unit_run run_unit_;
    caution caution_;
};

}  // namespace posthorn::postgres
