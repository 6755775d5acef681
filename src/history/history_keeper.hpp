#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "history/chart.hpp"
#include "history/sample.hpp"
#include "inbox/inbox.hpp"
#include "outbox/lane/outbox_counters.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What a history is kept of, and where; all of it outlives the keeper.
struct history_deps {
    const environment& env;
    store& where;
    std::vector<store*> outboxes;  // In which messages wait.
    std::vector<const outbox_counters*> counters;
    std::function<const inbox*()> inbox;  // May be empty, and give null.
    std::string node;
    std::size_t names_max = 16;
};

/// Keeps what the node did: by the second in memory, by ten seconds and by the minute in the
/// database.
///
/// It takes differences of counters that are there anyway. Rows go along with the next commit of
/// others; a commit of its own comes once a minute. How much waits is read every ten seconds, and
/// less often where reading takes long. If a row cannot be written, that is logged once and the
/// node goes on.
///
/// Lifetime: `run()` once; destroyed after it returned.
/// Threads:  `run()` on the network executor; the rest from any.
/// Cancel:   what was counted so far is given to the store, which commits it before it stops.
class history_keeper final : public node_service {
public:
    explicit history_keeper(history_deps with) : with_(std::move(with)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "history"; }
    task<> run() override;

    /// The rows of one line that are in memory, by the second, from a time on.
    [[nodiscard]] std::vector<history_row> recent(wall_time since, const history_key& of) const;
    /// Since when there are any; empty if there are none.
    [[nodiscard]] std::optional<wall_time> recent_since() const;
    [[nodiscard]] const std::string& node() const noexcept { return with_.node; }
    /// The names that lines have now.
    [[nodiscard]] std::vector<std::string> names(history_kind kind) const;
    /// Rows that could not be written.
    [[nodiscard]] std::uint64_t rows_lost() const noexcept { return saving_->lost; }

private:
    /// Shared with the units, which may be answered after the keeper is gone.
    struct saving {
        explicit saving(logger& to) : log(to) {}

        logger& log;
        std::atomic<std::uint64_t> lost = 0;
        std::atomic<int> units = 0;
        std::atomic<bool> fails = false;

        void done(const result<>& outcome, std::size_t rows);
    };

    void begin();
    task<> tick();
    task<> look_at_backlog();
    [[nodiscard]] history_lines count() const;
    [[nodiscard]] history_lines with_backlog(history_lines lines) const;
    void keep_in_memory(history_sample sample);
    void close_slots(wall_time now);
    void save(std::vector<history_row> rows, bool at_once);
    [[nodiscard]] std::vector<history_row> rows_of(const history_sample& sample) const;

    history_deps with_;
    std::shared_ptr<saving> saving_ = std::make_shared<saving>(with_.env.log);
    wall_time last_{};      // Up to which it has counted.
    history_lines before_;  // What the counters said then.
    history_lines backlog_;
    steady_time next_look_{};
    history_sample ten_seconds_;
    history_sample minute_;
    mutable std::mutex mutex_;
    std::deque<history_sample> recent_;
};

}  // namespace posthorn
