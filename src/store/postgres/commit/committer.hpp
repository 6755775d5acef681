#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "store/commit_news.hpp"
#include "store/postgres/commit/group.hpp"
#include "store/postgres/commit/session.hpp"
#include "store/rules/write_trouble.hpp"

namespace posthorn::postgres {

/// What the sessions of a store that write have in common; outlives them.
struct write_services {
    const clock& time;
    logger& log;
    commit_news news{};
    write_trouble trouble{};
    std::atomic<std::uint64_t> units_done = 0;
};

/// Commits units on one session, and answers them. A session that was lost is made anew with the
/// next commit; what its last commit came to is found out first.
///
/// Threads: one at a time, but for `unit_age`, `is_connected` and `must_look_again`.
class committer {
public:
    /// How long a commit that is in doubt is looked for.
    static constexpr std::chrono::seconds in_doubt_max{30};
    /// A session not used for longer is made anew: a firewall or pooler may have forgotten it by
    /// then.
    static constexpr std::chrono::minutes rest_max{10};

    /// `thread` is where it is used; `first` may be null, and is made when it is wanted then.
    committer(session_options options, std::unique_ptr<session> first, write_services& with,
              executor& thread);

    /// Sees to it that there is a session.
    result<> connect();
    /// In as few transactions as they fit into. True if other nodes should be told of something.
    bool commit(std::vector<member> members);
    /// Tells them. Outside of a transaction; false if it could not.
    bool tell_others();
    /// Takes along what the server keeps of the store.
    void close();

    [[nodiscard]] std::chrono::nanoseconds unit_age() const { return group_.unit_age(); }
    /// Whether it was when it was last used.
    [[nodiscard]] bool is_connected() const noexcept { return is_connected_; }
    /// Whether a producer held an order key just when a message of it was settled. A later
    /// transaction of this session finds what that one stored.
    [[nodiscard]] bool must_look_again() const noexcept { return must_look_again_; }

private:
    [[nodiscard]] bool is_good() const;
    result<> open();
    void commit_some(std::span<member>& left);
    void try_once_more(member& one);
    [[nodiscard]] bool was_silent() const;
    [[nodiscard]] bool deserves_another_try(const member& one, commit_end end) const;
    commit_end try_commit(std::span<member> members, std::size_t& took_part);
    /// After the connection was lost at a COMMIT.
    commit_end resolve(std::span<member> members);
    void answer(std::span<member> members);

    session_options options_;
    std::unique_ptr<session> session_;
    write_services& with_;
    executor& thread_;
    group group_;
    std::chrono::nanoseconds silence_max_{};  // Of the last session.
    std::chrono::nanoseconds silence_{};      // In the last try to commit.
    bool was_lost_ = false;                   // With it, the session.
    std::int64_t number_ = 0;                 // Of the last commit.
    int backend_ = 0;  // Of the present session, or of the one that was lost.
    steady_time tried_at_{};
    steady_time used_at_{};
    steady_time kept_at_{};
    std::optional<error> connect_error_;
    bool has_news_ = false;
    std::atomic<bool> is_connected_ = false;
    std::atomic<bool> must_look_again_ = false;
};

}  // namespace posthorn::postgres
