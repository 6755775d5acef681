#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes bytes as the fields of two signed texts and builds these a second time, by an
/// implementation of docs/reference/wire.md that shares nothing with the product's. Aborts if the
/// two differ, if the fields cannot be read back from a text, or if one signature serves for two
/// lists of fields.
void fuzz_canonical(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
