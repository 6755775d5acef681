#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "base/time/clock_watch.hpp"
#include "inbox/arrival.hpp"
#include "inbox/horizon.hpp"
#include "store/message_maker.hpp"
#include "store/transaction.hpp"

namespace posthorn {

struct intake_options {
    horizon_options horizon{};
    std::size_t response_size_max = std::size_t{1} << 20;
};

/// What happens to a message inside a transaction.
///
/// Each member is the work of one unit: an error rolls the unit back, and the arrival says what the
/// sender is told.
/// Lifetime: what it refers to outlives it.
/// Threads:  the store's writer, inside a unit.
class intake {
public:
    intake(const message_maker& maker, const clock& time, clock_guard& guard,
           intake_options options)
        : maker_(maker), time_(time), guard_(guard), options_(options) {}

    /// Dedupes, runs the transactional handler and keeps its response.
    result<> handle(store_transaction& tx, arrival& one) const;
    /// The row with which `handle` begins; none if it comes too late for one.
    [[nodiscard]] std::optional<inbox_record> begins_with(const arrival& one) const;
    /// Dedupes and takes the claim under which an external handler may run.
    result<> claim(store_transaction& tx, arrival& one) const;
    /// Records that the external handler is done; the sender is told if the claim was lost.
    result<> complete(store_transaction& tx, arrival& one, std::string_view response) const;

    [[nodiscard]] const intake_options& options() const noexcept { return options_; }

private:
    enum class verdict : unsigned char { run, answered };

    [[nodiscard]] inbox_record record_of(const arrival& one, wall_time now) const;
    result<verdict> judge_known(store_transaction& tx, arrival& one, wall_time now) const;
    result<> judge_late(store_transaction& tx, arrival& one, wall_time now) const;
    result<bool> take_claim(store_transaction& tx, arrival& one, wall_time now) const;
    /// Sends a Command's response back as a message of its own, in the same transaction, unless the
    /// handler's work is answered when it is finished elsewhere.
    result<> reply(store_transaction& tx, const arrival& one, std::string_view response) const;
    result<std::string> run_handler(store_transaction& tx, arrival& one) const;

    const message_maker& maker_;
    const clock& time_;
    clock_guard& guard_;
    intake_options options_;
};

}  // namespace posthorn
