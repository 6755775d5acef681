#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes bytes as a file that is deployed: as ELF, as its manifest, and as signed. Aborts if that
/// breaks a promise: a text that is not of the file, more of something than its limit, a refusal
/// without a reason, a file that reads otherwise the second time, or one that is taken unsigned.
void fuzz_binary(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
