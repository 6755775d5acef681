#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes bytes as a configuration. Aborts if it fails with another error than
/// `invalid_configuration`, if a value that was taken is out of the range that the rest relies on,
/// if a value as it is shown is not taken again, or if a secret is shown.
void fuzz_configuration(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
