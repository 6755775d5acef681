#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock_watch.hpp"
#include "standby/archive/archive_upkeep.hpp"
#include "standby/archive/stretch_writer.hpp"

namespace posthorn::standby {

struct archiver_options {
    stretch_writer::identity as;
    std::chrono::milliseconds every = std::chrono::seconds{60};  // A segment is finished.
    std::chrono::milliseconds base_every = std::chrono::hours{24};
    archive_limits limits{.keep = std::chrono::hours{7 * 24}};
    std::chrono::milliseconds patience = std::chrono::seconds{5};  // Of a checkpoint.
    std::uint64_t log_kept = std::uint64_t{1} << 30U;              // For a folder that fails.
};

/// How an archive is.
struct archive_report {
    bool has_tried = false;             // To open it, once.
    std::optional<wall_time> oldest{};  // What can be restored: from there
    std::optional<wall_time> newest{};  // to there, but for the gaps.
    std::vector<archive_gap> gaps{};
    std::optional<wall_time> base_at{};  // Of the present stretch; empty before its first is whole.
    std::optional<std::uint64_t> copied{};   // Bytes of a base that is being made.
    std::uint64_t behind = 0;                // Bytes of the log that no finished segment has,
    std::chrono::milliseconds behind_for{};  // and for how long the first of them has not been.
    std::uint64_t bytes = 0;                 // Of all its files.
    std::uint64_t segments = 0;
    std::uint64_t bases = 0;
    std::vector<std::string> lost{};  // Files that are missing or damaged.
    std::string trouble{};            // Why it cannot be written now.
};

/// Keeps a store's log in a folder: every commit that was synced, soon after it was. Commits do not
/// wait for it; what waits is the copying of the log into the file.
///
/// Lifetime: outlives its store; what it is given outlives it. The executor has a thread for it
///           alone.
/// Threads:  the store's, and any for `report`.
/// Cancel:   `end` finishes the segment and gives an unfinished base up.
class archiver final : public log_shipper {
public:
    struct parts {
        executor& thread;
        random_source& random;
        logger& log;
        const clock& time;
    };
    archiver(archiver_options options, const parts& with);
    ~archiver() override;

    void begin(log_source& files) override;
    void end() noexcept override;
    void let_go() noexcept override;
    result<> ready() override { return {}; }
    void wrote(std::uint64_t end) noexcept override;
    result<> wait() noexcept override;
    bool may_checkpoint(std::uint64_t end) noexcept override;

    [[nodiscard]] archive_report report() const;
    [[nodiscard]] const archiver_options& options() const noexcept { return options_; }

private:
    /// What the thread is to do next.
    struct order {
        std::uint64_t number = 0;
        std::uint64_t end = 0;             // Of the log,
        std::vector<commit_mark> marks{};  // and of the commits before it that are new.
        bool seal = false;
        bool last = false;
    };

    void note(std::uint64_t end);
    void run();
    [[nodiscard]] bool is_due() const;
    order next_order();
    result<> work(order& asked);
    result<> open(const order& asked);
    result<> follow_generation(const order& asked);
    void note_taken(const order& asked);
    result<> seal(const order& asked);
    result<> care_for_base(const order& asked);
    result<> end_base(const order& asked);
    bool is_base_spoilt();
    void remove_outdated();
    void failed(const error& why);
    void tell();

    const archiver_options options_;
    const parts with_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    log_source* files_ = nullptr;
    bool stopping_ = false;
    bool running_ = false;
    std::uint64_t written_ = 0;       // Where the log ends that is being synced.
    std::uint64_t asked_ = 0;         // Counts the ends that were noted.
    std::uint64_t end_ = 0;           // The last of them,
    std::vector<commit_mark> fresh_;  // and those that the thread has not seen.
    std::uint64_t seal_asked_ = 0;    // All up to this one is to be in finished segments,
    std::uint64_t sealed_ = 0;        // and up to this one it is.
    std::uint64_t taken_ = 0;         // Offset in the generation.
    std::uint64_t unsure_ = 0;        // A generation that begins after this one may hide frames.
    bool is_unsure_ = false;
    bool may_be_renewed_ = false;  // The next commit may begin the log anew.
    bool spoils_base_ = false;     // The file may have pages of what is not archived.
    bool hangs_ = false;           // The folder did not answer in time.
    steady_time unsealed_at_{};    // Since when `sealed_` is behind.
    archive_report told_;

    // Of the thread.
    clock_guard clocks_;
    std::optional<stretch_writer> writer_;
    std::vector<stretch> known_;
    std::vector<commit_mark> marks_;  // Of what is not sealed.
    std::optional<plain_file> lock_;
    std::optional<steady_time> removed_at_;
    std::chrono::nanoseconds pace_{};  // Between two pieces of a base.
};

}  // namespace posthorn::standby
