#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nodes/light.hpp"
#include "store/migration.hpp"
#include "store/store.hpp"

namespace posthorn {

/// `posthorn_nodes`, on both databases: a row for each time in which a node's light was the same.
[[nodiscard]] table_set nodes_tables() noexcept;

/// How long a row is kept after it was true for the last time.
inline constexpr std::chrono::hours lights_kept{24 * 7};

/// What was seen of a node.
struct light_seen {
    std::string node;
    node_light light{};
    wall_time at{};
    std::chrono::milliseconds latency{};
};

/// Makes the last row longer, or begins another; deletes what is older than it is kept for.
result<> record_light(store_transaction& tx, const light_seen& seen,
                      std::chrono::milliseconds every);

/// What is known of a node.
struct known_light {
    light_span last{};
    wall_time since{};                // When it took this colour.
    std::optional<wall_time> told{};  // When it told its health for the last time.
};
/// Nothing of a node that was never asked.
result<std::optional<known_light>> read_known(store_reader& from, std::string_view node);

struct light_page {
    std::int64_t before = 0;  // A span's number; none if zero.
    std::int64_t limit = 500;
};
/// The spans of a node, newest first.
result<std::vector<light_span>> read_spans(store_reader& from, std::string_view node,
                                           light_page page);

}  // namespace posthorn
