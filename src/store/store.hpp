#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/file_upkeep.hpp"
#include "store/inspection.hpp"
#include "store/shared_dispatch.hpp"
#include "store/transaction.hpp"

namespace posthorn {

class dead_letter_reader;

/// Work that commits together with others and is answered when it is on disk.
///
/// It may run twice, when another unit broke the group, so it touches nothing but its transaction.
struct unit {
    using work_type = std::move_only_function<result<>(store_transaction&)>;
    using done_type = std::move_only_function<void(result<>)>;

    work_type work;
    /// On a writer's thread, once the commit is on disk or has failed. Must not throw or block.
    done_type done{};
    /// Waits for the next commit instead of causing one; the submitter must see to it that one
    /// comes.
    bool lazy = false;
    /// The application's own, which may lock anything for any time: shares a commit with no other,
    /// and runs beside others, where the database lets several commit at a time.
    bool alone = false;
    std::chrono::milliseconds limit = std::chrono::seconds{5};  // For its SQL; then interrupted.
    /// The inbox's row that it inserts first, if it will insert one. A store that is far away may
    /// insert those of a whole group at once, before its units run. On the writer's thread.
    std::move_only_function<std::optional<inbox_record>()> inserts_first{};
    /// Gets back what it enqueued in a run that was undone, so that a unit can give its message
    /// away and still run again. On a writer's thread. Must not throw.
    std::move_only_function<void(std::vector<outbox_row>)> undone{};
};

/// Takes over what was enqueued, so that nothing need be read again: the dispatcher. Told by one
/// writer's thread at a time.
class commit_taker {
public:
    virtual ~commit_taker() = default;
    /// It is on disk. On a writer's thread. Must not throw or block.
    virtual void committed(std::vector<outbox_row> enqueued) = 0;
    /// This one is about to be committed, and no other with it. The taker may get ready while the
    /// disk is waited for; it may come to nothing. Likewise.
    virtual void committing(const outbox_row& lone) { static_cast<void>(lone); }
    /// Messages that waited for an earlier one of their order key may go now. Likewise.
    virtual void released(std::vector<outbox_row> rows) { static_cast<void>(rows); }
    /// The epoch of the dispatcher that takes what is enqueued now, where several share an outbox;
    /// zero for none, and then any of them may claim it. On a writer's thread, before a group.
    [[nodiscard]] virtual std::int64_t claims_as() { return 0; }
    /// A commit of another process, or of a handle not ours, was noticed. Likewise.
    virtual void foreign_commit() {}
};

/// Hears of commits. A feature that wakes on them is one; there may be several.
class commit_listener {
public:
    virtual ~commit_listener() = default;
    /// What was enqueued is on disk; empty where messages were only let go. On a writer's thread,
    /// before the senders are answered. Must not throw or block.
    virtual void committed(std::span<const outbox_row> enqueued) = 0;
    /// A unit that called `store_transaction::announce` is on disk. Likewise.
    virtual void announced() {}
    /// A commit of another process, or of a handle not ours, was noticed. Likewise.
    virtual void foreign_commit() {}
};

/// A snapshot of what is committed.
class store_reader {
public:
    virtual ~store_reader() = default;

    virtual outbox_reader& outbox() = 0;
    virtual inbox_reader& inbox() = 0;
    virtual store_inspector& inspect() = 0;
    virtual dead_letter_reader& dead_letters() = 0;
    virtual result<> query(std::string_view sql, std::span<const sql_param> with,
                           const store_transaction::row_visitor& visit) = 0;
};

/// One database: its business tables, its outbox and its inbox.
///
/// Lifetime: `stop()` has returned before it is destroyed. Listeners outlive it or are taken off.
/// Threads:  any.
/// Cancel:   `stop()` refuses new units with `error_code::closed`, commits those it has, and joins.
class store {
public:
    virtual ~store() = default;

    virtual void submit(unit work) = 0;
    /// The same for a caller who waits for `done`: while no other thread writes, the unit may run,
    /// and be answered, on the caller's thread, which spares two switches.
    virtual void submit_and_wait(unit work) = 0;
    /// All of them in one commit, as far as the size of a group allows.
    virtual void submit(std::vector<unit> work) = 0;
    /// Runs `look` on the calling thread; blocks while all readers are busy.
    virtual result<> read(const std::function<result<>(store_reader&)>& look) = 0;
    /// Null to take it off; the taker outlives the store otherwise.
    virtual void hand_to(commit_taker* taker) = 0;
    virtual void listen(commit_listener& listener) = 0;
    virtual void forget(commit_listener& listener) = 0;

    /// Whether others committed since the last call: another process, or a handle not ours.
    virtual result<bool> changed_by_others() = 0;
    /// Makes everything that is visible now survive a power cut, ours or not; then `done`.
    virtual void barrier(unit::done_type done) = 0;

    // What not every store has. Code that needs one of them asks for it, and does without if there
    // is none; it never asks which database this is.

    /// Null where one node dispatches at a time.
    [[nodiscard]] virtual shared_dispatch* sharing() = 0;
    /// Null where a server cares for the data.
    [[nodiscard]] virtual file_upkeep* upkeep() = 0;

    /// Whether it has stopped for good, because a commit is in doubt. Only a restart helps.
    [[nodiscard]] virtual bool has_failed() const = 0;
    /// Why nothing could be written lately, until something could again.
    [[nodiscard]] virtual std::optional<error> write_trouble() const = 0;
    /// How long the oldest unit that is to cause a commit has been without an answer, be it that it
    /// waits or that it runs; zero if there is none.
    [[nodiscard]] virtual std::chrono::nanoseconds longest_wait() const = 0;
    /// How long the unit that runs now has been running; zero if none is.
    [[nodiscard]] virtual std::chrono::nanoseconds unit_age() const = 0;

    /// How many units were answered so far.
    [[nodiscard]] virtual std::uint64_t units_done() const = 0;

    /// Looks at every page; `error_code::store_corrupt` with what was found.
    virtual result<> check_integrity() = 0;
    virtual void stop() = 0;
};

}  // namespace posthorn
