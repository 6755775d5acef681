#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

// What a stranger can send, read as the wire reads it. Each aborts if a promise is broken: an error
// of another kind than was promised, or something taken that does not come back the same.

/// A message.
void fuzz_envelope(const std::uint8_t* data, std::size_t size);
/// A batch; and one made of the lines, in which each message must read as it does alone.
void fuzz_batch(const std::uint8_t* data, std::size_t size);
/// An answer and the answers to a batch.
void fuzz_answer(const std::uint8_t* data, std::size_t size);
/// The six headers of a signature, a line each; nothing but the genuine ones may verify.
void fuzz_signature(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
