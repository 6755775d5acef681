#pragma once

#include <string_view>

namespace posthorn::sqlite {

/// The step of the store's tables that came with flows, order keys, dedupe keys, causes and pauses.
extern const std::string_view dispatch_tables;

}  // namespace posthorn::sqlite
