#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/steps/frame_cache.hpp"

namespace posthorn {

/// An instance with what the tables say of it.
struct loaded_instance {
    std::int64_t instance = 0;
    std::unique_ptr<frame> cached{};
    std::optional<instance_row> row{};  // If it is not cached.
    std::optional<mail> next{};
    std::vector<recorded_step> history{};
    std::vector<std::uint32_t> works{};
    std::optional<error> damage{};
    bool is_fresh = false;
};

/// Reads what came for it and, unless its frame is in memory, what it is built from. Rows that
/// cannot be read are its damage, not an error.
result<> load_instance(store_reader& from, loaded_instance& one);

/// A frame as it was after the last step of this history. An error names the step that came out
/// differently.
[[nodiscard]] std::expected<std::unique_ptr<frame>, std::string> build_frame_of(
    const detail::workflow_entry& code, const instance_row& of,
    std::span<const recorded_step> history);

}  // namespace posthorn
