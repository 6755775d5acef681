#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/executor.hpp"
#include "base/log.hpp"
#include "store/postgres/group.hpp"
#include "store/postgres/session.hpp"
#include "store/store.hpp"
#include "store/write_trouble.hpp"

namespace posthorn::postgres {

/// Takes units, commits them in groups, and answers them, on one session. A session that was lost
/// is made anew with the next group; what its last commit came to is found out first.
///
/// Lifetime: `stop()` before it is destroyed.
/// Threads:  `submit`, `listen`, `stop` from any; units run on the executor's thread.
/// Cancel:   `stop()` refuses new units, commits those it has, and returns.
class writer {
public:
    /// How long a commit that is in doubt is looked for.
    static constexpr std::chrono::seconds in_doubt_max{30};

    writer(session_options options, std::unique_ptr<session> first, const clock& time,
           executor& thread, logger& log);

    void submit(std::vector<unit> work);
    void listen(commit_listener* listener);
    void stop();

    [[nodiscard]] std::chrono::nanoseconds unit_age() const { return group_.unit_age(); }
    [[nodiscard]] std::uint64_t units_done() const noexcept { return units_done_; }
    [[nodiscard]] std::optional<error> trouble() const { return trouble_.now(); }

private:
    void schedule_if_needed();
    [[nodiscard]] bool is_wanted() const;
    void work();
    std::vector<member> take_group();
    void commit(std::vector<member> members);
    void commit_some(std::span<member>& left);
    void commit_alone(std::span<member> members);
    bool was_silent(const member& one, commit_end end) const;
    commit_end try_commit(std::span<member> members, std::size_t& took_part);
    /// After the connection was lost at a COMMIT.
    commit_end resolve(std::span<member> members);
    result<> connect_anew();
    void answer(std::span<member> members);
    std::int64_t claimer();
    void tell_others(bool is_idle);

    session_options options_;
    std::unique_ptr<session> session_;
    const clock& time_;
    executor& thread_;
    logger& log_;
    group group_;
    std::chrono::nanoseconds silence_max_;  // Of the last session.
    std::chrono::nanoseconds silence_{};    // In the last try to commit.
    bool was_lost_ = false;                 // With it, the session.
    std::int64_t number_ = 0;               // Of the last commit.
    int backend_ = 0;                       // Of the present session, or of the one that was lost.
    steady_time tried_at_{};
    std::optional<error> connect_error_;
    bool has_news_ = false;
    steady_time told_at_{};
    std::atomic<std::uint64_t> units_done_ = 0;
    write_trouble trouble_;

    std::mutex listening_;
    commit_listener* listener_ = nullptr;

    mutable std::mutex mutex_;
    std::condition_variable idle_;
    std::deque<unit> queue_;
    std::deque<unit> lazy_;
    bool scheduled_ = false;
    bool stopping_ = false;
};

}  // namespace posthorn::postgres
