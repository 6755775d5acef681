#pragma once

#include <concepts>
#include <utility>

#include "base/time/clock.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rules/dead_letter_rows.hpp"
#include "store/rules/table_neighbours.hpp"

namespace posthorn {

/// What a unit can change, on one connection. `Own` is what only this store has; those tables are
/// given it that take it.
///
/// Lifetime: as the transaction's connection.
template <class Driver, class Own, class Closed, class Keys, class Outbox, class Inbox,
          class Leases, class Old>
struct unit_tables {
    using connection = typename Driver::connection;
    using neighbours = table_neighbours<Driver, Keys>;

    /// `args` are what `Own` is made of.
    template <class... Args>
    unit_tables(connection& database, const clock& time, const outbox_rules& rules, Args&&... args)
        : own{std::forward<Args>(args)...},
          changes(database),
          closed(database),
          keys(make<Keys>(database, typename Keys::services{time, rules, changes})),
          outbox(make<Outbox>(database, time, neighbours{changes, closed, keys})),
          inbox(make<Inbox>(database)),
          leases(make<Leases>(database)),
          dead_letters(database, rules.limits, neighbours{changes, closed, keys}),
          old(make<Old>(database, time)) {}

    Own own;
    change_log<Driver> changes;
    Closed closed;
    Keys keys;
    Outbox outbox;
    Inbox inbox;
    Leases leases;
    dead_letter_rows<Driver, neighbours> dead_letters;
    Old old;

private:
    template <class Table, class... Args>
    Table make(connection& database, Args&&... args) {
        if constexpr (std::constructible_from<Table, connection&, Args..., Own&>)
            return Table(database, std::forward<Args>(args)..., own);
        else
            return Table(database, std::forward<Args>(args)...);
    }
};

}  // namespace posthorn
