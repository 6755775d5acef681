#pragma once

#include <cstddef>
#include <cstdint>

namespace posthorn {

/// Takes bytes as what a peer sends on one connection; the first byte says in what pieces. Aborts
/// if the server does not end when the peer has; if a request that comes through is past a limit,
/// has two lengths or holds what could end a line; if what is answered is no HTTP, or is more or
/// less than an answer to each request and one refusal; or if the pieces make a difference.
void fuzz_http(const std::uint8_t* data, std::size_t size);

}  // namespace posthorn
