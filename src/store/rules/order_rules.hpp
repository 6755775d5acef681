#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.hpp"
#include "store/outbox_table.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/statements/order_rules_sql.hpp"

namespace posthorn {

/// Who waits for whom among the messages of an order key, inside a write transaction.
///
/// A message that waits is parked: it is not due before it expires. Taking a message out of the way
/// (sent, resolved, deleted, and given up under the policy `pass`) lets the next one go. A store
/// gives `Log`, where changes are logged.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
template <class Driver, class Log>
class order_rules {
public:
    struct services {
        const clock& time;
        outbox_rules rules;
        Log& log;
    };
    order_rules(typename Driver::connection& database, services with,
                const order_rules_sql& texts = order_rules_texts)
        : with_(std::move(with)),
          policy_(database, texts.policy),
          scope_(database, texts.scope),
          head_(database, texts.head),
          release_(database, texts.release),
          place_(database, texts.place),
          due_row_(database, texts.due_row) {}
    virtual ~order_rules() = default;

    result<> set_policy(order_policy policy) {
        POSTHORN_TRY(policy_.run(to_string(policy)));
        return {};
    }
    /// For a row that has become pending again: due at once, or parked.
    result<> place(std::int64_t seq) {
        POSTHORN_TRY(place_.run(seq));
        return {};
    }
    /// A message of the key was taken out of the way: the next one goes.
    virtual result<> let_go(const order_scope& of) {
        POSTHORN_TRY(release_first(of));
        return {};
    }
    /// The same for a row that is still there; nothing if it has no order key.
    result<> let_go_after(std::int64_t seq);
    /// Releases those of the rows that are parked though nothing is in their way; their number.
    result<std::int64_t> release_unblocked(std::span<const std::int64_t> seqs);

    /// What the present unit released, for the hot path.
    std::vector<outbox_row> take_released() {
        bytes_released_ = 0;
        return std::exchange(released_, {});
    }

protected:
    /// Releases the first pending one of the key, if it is parked and nothing is in its way. False
    /// if none is pending.
    result<bool> release_first(const order_scope& of);
    void forget_released() noexcept {
        released_.clear();
        bytes_released_ = 0;
    }

private:
    /// For one that is about to be announced.
    virtual void claim(outbox_row&) {}

    result<bool> release(std::int64_t seq) {
        POSTHORN_LET(released, release_.run(seq));
        return released.changed() > 0;
    }
    result<> announce(std::int64_t seq);

    services with_;
    typename Driver::statement policy_;
    typename Driver::statement scope_;
    typename Driver::statement head_;
    typename Driver::statement release_;
    typename Driver::statement place_;
    typename Driver::statement due_row_;
    std::vector<outbox_row> released_;
    std::size_t bytes_released_ = 0;
};

template <class Driver, class Log>
result<> order_rules<Driver, Log>::let_go_after(std::int64_t seq) {
    order_scope of;
    {
        POSTHORN_LET(found, scope_.run(seq));
        if (found.empty()) return {};
        const auto& row = found.front();
        of = {.destination = std::string(row.text(0)),
              .order_key = std::string(row.text(1)),
              .tenant = std::string(row.text(2))};
    }
    return let_go(of);
}

template <class Driver, class Log>
result<bool> order_rules<Driver, Log>::release_first(const order_scope& of) {
    std::int64_t first = 0;
    {
        POSTHORN_LET(found, head_.run(of.destination, of.order_key, of.tenant));
        if (found.empty()) return false;
        first = found.front().integer(0);
    }
    POSTHORN_LET(released, release(first));
    if (released) POSTHORN_TRY(announce(first));
    return true;
}

// A row that is not a message, or not for now, is left to the cold path; so is one for which there is
// no room in memory.
template <class Driver, class Log>
result<> order_rules<Driver, Log>::announce(std::int64_t seq) {
    constexpr std::size_t bytes_max = std::size_t{16} << 20;
    if (bytes_released_ >= bytes_max) return {};
    POSTHORN_LET(found, due_row_.run(seq, to_ms(with_.time.wall())));
    if (found.empty()) return {};
    auto row = read_row(found.front(), with_.rules.source);
    if (!row || !validate(row->body, with_.rules.limits)) return {};
    claim(*row);
    bytes_released_ += bytes_of(*row);
    released_.push_back(*std::move(row));
    return {};
}

template <class Driver, class Log>
result<std::int64_t> order_rules<Driver, Log>::release_unblocked(
    std::span<const std::int64_t> seqs) {
    std::vector<std::int64_t> gone;
    for (const auto seq : seqs) {
        POSTHORN_LET(released, release(seq));
        if (!released) continue;
        gone.push_back(seq);
        POSTHORN_TRY(announce(seq));
    }
    const auto number = std::ssize(gone);
    POSTHORN_TRY(with_.log.append("outbox.released", std::move(gone), with_.time.wall()));
    return number;
}

}  // namespace posthorn
