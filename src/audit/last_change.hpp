#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>

#include "store/store.hpp"

namespace posthorn {

/// A change that was made through the admin API.
struct known_change {
    std::string who;
    std::string target;
    wall_time at{};
};

/// The last one of what a path names, such as `/_rf/dead/ID`. Empty if there is none: the node may
/// have changed it itself, a program, or a person all that fit a filter. Looks at the audit's rows,
/// of which there are 100,000 at most.
[[nodiscard]] result<std::optional<known_change>> last_change_of(store& where,
                                                                 std::string_view path);

}  // namespace posthorn
