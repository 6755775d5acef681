#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "history/chart.hpp"
#include "store/migration.hpp"
#include "store/store.hpp"

namespace posthorn {

/// `posthorn_history`, on both databases.
[[nodiscard]] table_set history_tables() noexcept;

/// One statement, however many rows there are; at most a few hundred.
result<> insert_history(store_transaction& tx, std::span<const history_row> rows);

/// How long the rows of a step are kept.
struct history_retention {
    std::chrono::seconds step;
    std::chrono::seconds kept;
};
inline constexpr std::array history_kept{
    history_retention{std::chrono::seconds{10}, std::chrono::hours{6}},
    history_retention{std::chrono::minutes{1}, std::chrono::hours{24 * 7}},
};

/// Deletes a slice of what is older than it is kept for, one statement for each step: after a long
/// pause what is old goes away over some time, and not at once. Rows of other nodes are left to them
/// for a while, so that nodes that share a database do not wait for each other.
result<> trim_history(store_transaction& tx, wall_time now, std::string_view node);

/// The rows of one line from a time on, those of the earliest first.
result<std::vector<history_row>> read_history(store_reader& from, std::chrono::seconds step,
                                              wall_time since, const history_key& of);

}  // namespace posthorn
