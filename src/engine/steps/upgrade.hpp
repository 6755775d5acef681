#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "store/store.hpp"

/// Open workflows that go on with another version's code: each whose history comes out the same when
/// that code repeats it.
namespace posthorn {

/// The code of a version; null if the program has none.
using code_finder =
    std::function<const detail::workflow_entry*(std::string_view workflow, std::int64_t version)>;

/// Why a workflow cannot go on with this code; empty if it can. One that has not begun yet is begun
/// in memory. Pure: no payload is in it.
[[nodiscard]] std::string find_obstacle(const detail::workflow_entry& code, const instance_row& of,
                                        std::span<const recorded_step> history);

/// One that can go on with the other version, as it was when its history was read.
struct upgradable {
    std::int64_t instance = 0;
    std::int64_t run = 1;
    std::int64_t steps = 0;
};
struct upgrade_obstacle {
    std::string id;
    std::string why;
};
/// Some of the open instances of a version.
struct upgrade_page {
    std::vector<upgradable> alike{};
    std::vector<upgrade_obstacle> differ{};
    std::int64_t last = 0;  // The instance up to which was looked.
    bool is_more = false;
};
struct upgrade_range {
    std::string_view workflow;
    std::int64_t from = 0;
    std::int64_t after = 0;  // Instances.
    std::int64_t count = 0;
};

/// Looks, and changes nothing.
[[nodiscard]] result<upgrade_page> look_for_upgrade(store_reader& reader,
                                                    const upgrade_range& which,
                                                    const detail::workflow_entry& code);

/// Gives those to another version that have taken no step since; how many. A step that is under way
/// is refused then, and taken again by the other version.
result<std::int64_t> move_to_version(store_transaction& tx, std::span<const upgradable> which,
                                     std::int64_t from, std::int64_t to);

}  // namespace posthorn
