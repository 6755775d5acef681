#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

namespace posthorn {

/// One step of a folder's tables. Additive, safe to run again, never changed once released.
struct migration {
    int number = 0;  // From 1, without gaps.
    std::string_view sql;
    /// Views of earlier steps that this one makes anew. In a file they are dropped before it,
    /// unless the application has a table of that name.
    std::span<const std::string_view> remade{};
};

/// The tables that one folder brings along. The store knows its own; folders above register theirs.
struct migration_set {
    std::string_view folder;
    std::span<const migration> steps;
};

/// The steps of all sets, in their order.
[[nodiscard]] inline auto steps_in(std::span<const migration_set> sets) {
    return sets | std::views::transform(&migration_set::steps) | std::views::join;
}

/// A table that both databases have, as `posthorn migrate` copies it from a file to a server.
struct copied_table {
    struct column {
        enum class kind : std::uint8_t {
            number,
            text,  // Kept to the byte, or refused.
            note,  // For people; what the server cannot hold is replaced.
            bytes,
            payload,  // Two columns on the server: one for text, one for other bytes.
        };
        std::string_view name;
        kind holds = kind::text;
    };
    std::string_view name;
    std::span<const column> columns;  // The first is what it is ordered by, with `and_by`.
    std::string_view and_by{};
    std::string_view only{};         // Which rows, if not all.
    std::string_view numbered_by{};  // The column that the server numbers by itself, if any.
    std::string_view also{};         // A column that only the server has, if any,
    std::string_view always{};       // and what it is in all that comes from a file.
};

/// All that the store has to know of the tables of a folder above it.
struct table_set {
    migration_set sqlite{};
    migration_set postgres{};  // `{s}` stands for the schema.
    std::span<const copied_table> copied{};
};

}  // namespace posthorn
