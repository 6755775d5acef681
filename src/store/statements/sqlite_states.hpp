#pragma once

#include "base/text/joined.hpp"

namespace posthorn::sqlite {

// Groups of states in SQL, the same wherever they are asked for: a partial index serves a statement
// only if its condition stands in it.
//
// Said without IN: of a list of more than two SQLite makes a table in memory, and in triggers,
// CHECKs and conditions of indexes it does so anew for each row. That was most of what it cost to
// settle a message.

/// Dead, Expired or Resolved: no message that is to be sent, or was.
template <class Text>
consteval auto is_closed(const Text& status) {
    return joined("(", status, " <> 'Pending' AND ", status, " <> 'Sent')");
}

/// Pending, Dead or Expired: followers of its order key may have to wait for it.
template <class Text>
consteval auto is_undone(const Text& status) {
    return joined("(", status, " <> 'Sent' AND ", status, " <> 'Resolved')");
}

/// That `other`, a row of `outbox_messages`, has the order key of `row` and is in that state, so that
/// the index of order keys finds it.
template <class Other, class Row, class State>
consteval auto shares_key(const Other& other, const Row& row, const State& state) {
    return joined(other, R"sql(.order_key IS NOT NULL
          AND )sql",
                  other, ".destination = ", row, R"sql(.destination
          AND )sql",
                  other, ".order_key = ", row, R"sql(.order_key
          AND coalesce()sql",
                  other, ".tenant, '') = coalesce(", row, R"sql(.tenant, '')
          AND )sql",
                  is_undone(joined(other, ".status")), R"sql(
          AND )sql",
                  other, ".status = ", state);
}

template <class Row, class State>
consteval auto has_earlier(const Row& row, const State& state) {
    return joined(R"sql(EXISTS (
        SELECT 1 FROM outbox_messages AS earlier
        WHERE )sql",
                  shares_key("earlier", row, state), " AND earlier.seq < ", row, ".seq)");
}

/// What has followers of an order key wait for one that was given up, until a person decides. A
/// subscriber's endpoint that was down for days shall not miss what comes after, whatever the policy.
template <class Row>
consteval auto parks_followers(const Row& row) {
    return joined("(", row, R"sql(.destination NOT GLOB 'webhook:*' AND NOT EXISTS (
            SELECT 1 FROM posthorn_meta WHERE name = 'order_policy' AND value = 'pass')))sql");
}

/// Whether an earlier message of its order key is in the way of a row: one that is under way, or,
/// unless the policy lets its followers pass, one that was given up. `row` is how the SQL around it
/// names the row.
///
/// Asked apart: a key may have very many that were given up, and the policy may make nothing of it.
template <class Row>
consteval auto is_blocked(const Row& row) {
    return joined("(", has_earlier(row, "'Pending'"), R"sql(
        OR ()sql",
                  parks_followers(row), R"sql(
            AND ()sql",
                  has_earlier(row, "'Dead'"), " OR ", has_earlier(row, "'Expired'"), ")))");
}
inline constexpr auto follower_is_blocked = is_blocked("follower");

}  // namespace posthorn::sqlite
