#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/async/task.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "store/migration.hpp"
#include "store/store.hpp"

namespace posthorn {

/// The table `posthorn_audit`.
[[nodiscard]] table_set audit_tables() noexcept;

/// One thing that a caller did, or was kept from doing.
struct audit_entry {
    std::string who;     // The key's name, or the peer's address.
    std::string what;    // Such as POST.
    std::string target;  // On what; without the query.
    std::string outcome;
};

/// Keeps who changed what, and who was refused, in `posthorn_audit` and in the log.
///
/// Any caller can cause refusals, so only the first ones of each minute are kept; the next that is
/// kept says how many were not. The newest 100,000 rows stay.
///
/// Lifetime: outlives the routes that use it; the store, which has `audit_tables()`, outlives it.
/// Threads:  any.
/// Cancel:   a commit is never cancelled.
class audit {
public:
    audit(store& where, const clock& time, logger& log) : where_(where), time_(time), log_(log) {}

    /// On disk when it returns; gives the row, for `finish`.
    task<result<std::int64_t>> begin(audit_entry change);
    /// Adds what came of it.
    task<> finish(std::int64_t row, audit_entry change);
    /// Does not wait.
    void refused(audit_entry refusal);

    [[nodiscard]] std::uint64_t refusals() const noexcept { return refusals_; }

private:
    static constexpr std::uint64_t refusals_per_minute_max = 60;
    [[nodiscard]] bool is_to_be_kept(std::uint64_t& left_out);

    store& where_;
    const clock& time_;
    logger& log_;
    std::atomic<std::uint64_t> refusals_ = 0;
    std::mutex mutex_;
    steady_time minute_begun_{};
    std::uint64_t kept_ = 0;      // In this minute.
    std::uint64_t left_out_ = 0;  // Since one was kept.
};

}  // namespace posthorn
