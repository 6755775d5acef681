#pragma once

#include "workflow/binary/byte_range.hpp"
#include "workflow/binary/elf_image.hpp"

namespace posthorn {

/// What the loader is told: which libraries are needed, which symbols come from them, and which this
/// file offers. The image has its segments already.
[[nodiscard]] inspected<> read_dynamic(const byte_range& file, const elf_limits& limits,
                                       elf_image& into);

}  // namespace posthorn
