#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "workflow/binary/manifest.hpp"

/// What becomes of the versions that were deployed. Pure: each function says which rows change.
///
///     Inactive --activate--> Active --another is activated--> Draining --none is open--> Drained
///                              ^                                 |                          |
///                              +-------- activate, roll back ----+--------------------------+
namespace posthorn {

enum class deployed_state : std::uint8_t {
    inactive,  // It is kept; nothing begins with it.
    active,    // New instances take it; one of each workflow at most.
    draining,  // Open ones go on with it.
    drained    // None is open: its runner ends.
};
[[nodiscard]] std::string_view to_string(deployed_state state) noexcept;

struct deployed_version {
    std::string workflow{};
    unsigned version = 0;
    std::string binary{};  // SHA-256 of its file.
    deployed_state state{};
    std::int64_t open = 0;
    std::int64_t activated_at = 0;  // Last; zero if never.
};

struct version_change {
    std::string workflow{};
    unsigned version = 0;
    deployed_state to{};
    bool operator==(const version_change&) const = default;
};

/// The workflows of a new binary, as Inactive; none if the same file was deployed before. `id_reused`
/// if one of its versions has other bytes: give it another version.
[[nodiscard]] result<std::vector<version_change>> plan_upload(
    std::span<const deployed_version> known, const binary_manifest& manifest,
    std::string_view binary);

/// New instances take this version from now on. Nothing changes if they do already; `not_found` if it
/// was not deployed.
[[nodiscard]] result<std::vector<version_change>> plan_activation(
    std::span<const deployed_version> known, std::string_view workflow, unsigned version);

/// Back to the one that was active before. `not_found` if there is none.
[[nodiscard]] result<std::vector<version_change>> plan_roll_back(
    std::span<const deployed_version> known, std::string_view workflow);

/// Draining ones of which none is open any more.
[[nodiscard]] std::vector<version_change> plan_drained(std::span<const deployed_version> known);

/// Whether the runner of a binary is of use: something begins with it, or goes on.
[[nodiscard]] bool is_runner_needed(std::span<const deployed_version> known,
                                    std::string_view binary) noexcept;

}  // namespace posthorn
