#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/run/environment.hpp"
#include "engine/steps/engine_report.hpp"
#include "engine/steps/flow_loop.hpp"
#include "engine/steps/matchmaker.hpp"
#include "store/message_maker.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Finds the workflows that something came for, and brings what is stored to their mailboxes: it
/// matches signals, ends sleeps, and forgets signals that were kept for long enough.
///
/// Lifetime: as the engine's; what it is given outlives it.
/// Threads:  the flow thread.
class mailroom {
public:
    struct deps {
        const environment& env;
        store& where;
        flow_loop& loop;
        const std::vector<starting_rule>& starts;
        engine_report& report;
        std::atomic<std::uint64_t>& unfit;  // Signals that lack what they are waited for by.
        const message_maker& maker;         // Of refusals.
    };

    mailroom(deps with, std::chrono::milliseconds unclaimed_kept);

    /// An instance that something new came for; `seq` is zero of a start.
    using finder = std::function<void(std::int64_t instance, std::int64_t seq)>;

    /// Calls `found` for each mail that is new. What is committed with a higher
    /// number is visible later, since one transaction writes at a time; so the last one is enough to
    /// know what is new.
    void look(const finder& found);
    void forget_expired();

private:
    /// Of the signals of a unit.
    struct misfits {
        std::uint64_t count = 0;
        std::int64_t first = 0;
        std::string fields{};
    };
    static result<> match_one(store_transaction& tx, std::int64_t seq, const match_rules& rules,
                              wall_time now, misfits& odd);
    void tell_misfits(const misfits& seen);

    /// Of an instance, and the number of its command.
    using sleep = std::pair<std::int64_t, std::int64_t>;
    struct news;
    result<> read_news(store_reader& from, const finder& found, news& into);
    result<> read_behind(store_reader& from, const finder& found);
    result<> read_signals(store_reader& from, std::vector<std::int64_t>& into);
    result<> read_sleeps(store_reader& from, news& into) const;
    void match_some(std::vector<std::int64_t> signals);
    void match_each(const std::vector<std::int64_t>& signals);
    void note_match(std::int64_t signal, const result<>& outcome);
    void index_some();
    void end_sleeps(std::vector<sleep> due, std::int64_t now_ms);
    void end_each(const std::vector<sleep>& due, std::int64_t now_ms);
    void try_again_later();

    deps with_;
    std::chrono::milliseconds unclaimed_kept_;
    std::int64_t mail_seen_ = 0;
    std::int64_t starts_seen_ = 0;
    std::optional<steady_time> behind_at_;  // When the last round behind these was gone on with.
    std::int64_t mail_behind_ = INT64_MIN;
    std::int64_t starts_behind_ = INT64_MIN;
    bool has_begun_ = false;
    bool is_matching_ = false;
    bool is_indexing_ = false;
    std::int64_t signals_a_unit_;  // Fewer after a unit that took too long.
    bool is_ending_sleeps_ = false;
    std::map<std::int64_t, steady_time> put_off_;  // Signals, and when they are tried again.
};

}  // namespace posthorn
