#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes bytes as what comes to a standby's port, as each body of a message of a pair's, and as what
/// is kept beside its database. Aborts if that breaks a promise: one that has not shown a key gets
/// further, or more memory, than a greeting; a body that reads otherwise once written.
void fuzz_link(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
