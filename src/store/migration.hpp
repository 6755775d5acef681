#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace posthorn {

/// One step of a folder's tables. Additive, safe to run again, never changed once released.
struct migration {
    int number = 0;  // From 1, without gaps.
    std::string_view sql;
};

/// The tables that one folder brings along. The store knows its own; folders above register theirs.
struct migration_set {
    std::string_view folder;
    std::span<const migration> steps;
};

}  // namespace posthorn
