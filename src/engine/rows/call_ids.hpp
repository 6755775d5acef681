#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/uuid.hpp>

namespace posthorn {

/// With what the correlation ids of workflows' calls begin.
inline constexpr std::string_view call_prefix = "wf/";

/// Which command of which run of a workflow.
struct call_name {
    uuid instance;
    std::int64_t run = 1;
    std::uint32_t command = 0;

    bool operator==(const call_name&) const = default;
};

/// `wf/<uuid>/<run>/<command>`, by which a Response finds its call.
[[nodiscard]] std::string to_correlation_id(const call_name& name);
/// Empty if it is not one.
[[nodiscard]] std::optional<call_name> parse_correlation_id(std::string_view text);

/// The id of the message, and the key of work that may be done twice: the same whenever the command
/// is made again.
[[nodiscard]] uuid id_of(const call_name& name);

}  // namespace posthorn
