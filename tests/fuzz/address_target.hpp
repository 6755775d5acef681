#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes bytes as an address to listen on, a URL, a route and the target of a request. Aborts if
/// what was taken does not come back the same once written, is no address in the system's own
/// eyes, means something else to the part that opens connections, or holds what could speak for the
/// lines after it.
void fuzz_address(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
