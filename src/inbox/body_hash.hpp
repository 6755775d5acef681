#pragma once

#include <posthorn/message.hpp>

#include "store/inbox_table.hpp"

namespace posthorn {

/// The hash that tells whether a message with a known id is a repeat or another message.
///
/// It covers what a sender says identically each time and what a handler acts on: type, endpoint,
/// content type, correlation id and payload, in this order, each with its length before it. Left
/// out are the source and the id, which are the key it is stored under; the times and the retry
/// settings, which a requeued message may change; and the headers, in which the documents' schemes
/// carry a time stamp and a signature that are new with each attempt.
[[nodiscard]] body_hash hash_body(const message& what);

}  // namespace posthorn
