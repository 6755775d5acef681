#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes bytes as what goes between an engine and a runner: a head, a batch, completions. Aborts if that
/// breaks a promise: more of something than its limit, a slice past its text, a function that came over
/// a pipe, an error of another kind, or what reads otherwise once written.
void fuzz_runner(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
