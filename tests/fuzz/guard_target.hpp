#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes bytes as a URL, a network and an address, a line each. Aborts if a URL is let pass that
/// the part which connects would read otherwise, whose host the system would take for an address
/// that was not judged, or that is not public; and if a network holds another set of addresses than
/// its bits say.
void fuzz_guard(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
