#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes the first line as the query of a list and the rest as the body of a change. Asks the real
/// routes over a real database with known rows, and aborts if an answer is no JSON, if it gives
/// other rows than a plain loop over them finds, or if a body that was taken says what its verb
/// does not know.
void fuzz_admin(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
