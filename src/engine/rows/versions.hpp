#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/run/environment.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "store/store.hpp"

/// The versions of workflows that a program has, and those that instances need.
namespace posthorn {

/// Where a version of a workflow stands.
enum class version_state : std::uint8_t {
    active,    // New instances take it.
    draining,  // A newer one is there, and some are open that began with this one.
    drained,   // None is open: the program may do without it.
    missing    // Some are open, and the program has it not: they wait.
};

struct version_row {
    std::string workflow{};
    std::int64_t version = 0;
    bool is_linked = false;  // The program had it when it started last.
    std::int64_t since = 0;
    std::int64_t open = 0;
    std::int64_t held = 0;  // Of these, in quarantine.
    version_state state{};
};

[[nodiscard]] std::string_view to_string(version_state state) noexcept;

/// What is true of each of the versions of one workflow, in the order of their numbers. Pure.
void judge_versions(std::span<version_row> of_one_workflow);

/// By name and number. Instances that asked for no version count for the newest.
[[nodiscard]] result<std::vector<version_row>> read_versions(store_reader& from);

using linked_version = std::pair<std::string, std::int64_t>;
/// What the program has now; what it had before stays known.
result<> note_versions(store_transaction& tx, std::span<const linked_version> linked,
                       wall_time now);
/// The same, in a unit of its own, which nothing waits for.
void submit_versions(store& where, const environment& env, std::vector<linked_version> linked);

}  // namespace posthorn
