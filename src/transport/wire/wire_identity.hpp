#pragma once

#include <cstddef>
#include <string>

#include "transport/wire/peer_keys.hpp"

namespace posthorn {

/// As whom a node speaks to its peers, for what reaches some of them by ways of its own.
///
/// Lifetime: outlives the ways; the keys outlive it.
struct wire_identity {
    const peer_keys& keys;
    std::string service;           // Our id.
    std::size_t answer_bytes_max;  // Of a peer's answer.
};

}  // namespace posthorn
