#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace posthorn {

/// A unit on its way through a commit.
struct member {
    unit work;
    result<> outcome{};
    bool settled = false;   // Its outcome is final and it takes no part in another try.
    bool gave_way = false;  // To others, who held what it needs, in the last try.
    std::vector<outbox_row> enqueued{};
    std::vector<outbox_row> released{};
    std::vector<std::int64_t> received{};
    bool announced = false;

    /// What it did is undone.
    void forget_rows() noexcept {
        if (work.undone && !enqueued.empty()) work.undone(std::move(enqueued));
        enqueued.clear();
        released.clear();
        received.clear();
        announced = false;
    }
};

/// Of all that are not settled.
inline void give_outcome(std::span<member> members, const result<>& outcome) {
    for (auto& one : members)
        if (!one.settled) one.outcome = outcome;
}

/// How an attempt to commit a group ended.
enum class commit_end : std::uint8_t {
    committed,  // Every member has its outcome.
    refused,    // Nothing was stored; every member has the reason.
    lost,       // Nothing was stored, for a reason that may be one member's: try them one by one.
    in_doubt,   // It is not known, for now, whether it was stored.
};

/// Takes what the unit that has just run did out of its transaction.
template <class Transaction>
void take_rows(member& of, Transaction& from) {
    of.enqueued = from.outbox().take_enqueued();
    of.released = from.keys().take_released();
    of.received = from.inbox().take_received();
    of.announced = from.take_announced();
}

/// What the change log says of a group.
struct changed_rows {
    std::vector<std::int64_t> enqueued;
    std::vector<std::int64_t> received;
};
[[nodiscard]] changed_rows changed_by(std::span<const member> members);

/// Logs it.
template <class Log>
result<> log_changes(Log& to, std::span<const member> members, wall_time now) {
    auto [enqueued, received] = changed_by(members);
    POSTHORN_TRY(to.append("outbox.enqueued", std::move(enqueued), now));
    return to.append("inbox.received", std::move(received), now);
}

/// Whether a group's units run each in its own savepoint. That costs more than most units, and most
/// succeed; so they run without, and if one fails all run again. Units that fail often do not make
/// all run twice each time: after a failure so many groups are run with savepoints at once.
class caution {
public:
    static constexpr int groups_after_failure = 64;

    /// To be asked once for each group.
    [[nodiscard]] bool is_called_for() noexcept {
        if (groups_left_ == 0) return false;
        --groups_left_;
        return true;
    }
    void note_failure() noexcept { groups_left_ = groups_after_failure; }

private:
    int groups_left_ = 0;
};

}  // namespace posthorn
