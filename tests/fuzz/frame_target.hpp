#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes bytes as a stream of frames, whole and byte by byte, and reads every head. Aborts if that
/// breaks a promise: a stream that means something else when it is cut otherwise, a frame beyond
/// its limits, an error other than `malformed_request`, or a head that reads otherwise once
/// written.
void fuzz_frames(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
