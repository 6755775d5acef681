#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Decodes bytes as a message of every type, and writes again what it took. Aborts if that breaks a
/// promise: an error other than `invalid_payload`, or a second reading that differs.
void fuzz_decode(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
