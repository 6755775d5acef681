#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/message.hpp>

#include "base/result.hpp"

namespace posthorn {

/// Tells two bodies of one id apart.
using body_hash = std::array<std::byte, 32>;

/// What names a message at its receiver.
struct inbox_key {
    std::string_view source;
    uuid id;
};

/// A message that was taken in: its effect is committed, or an external handler has a claim on it.
struct inbox_entry {
    body_hash hash{};
    bool processed = false;     // Otherwise claimed.
    std::string response;       // The handler's payload, if processed.
    wall_time claimed_until{};  // If not processed.
    std::string claim_owner;    // Likewise.
};

/// What is stored of a message once it took effect.
struct inbox_record {
    inbox_key key;
    std::string_view endpoint{};
    body_hash hash{};
    std::string_view response{};
    wall_time processed_at{};
    wall_time expires_at{};  // When the row may be purged.
};

struct inbox_claim {
    inbox_key key;
    std::string_view endpoint{};
    body_hash hash{};
    std::string_view owner{};
    wall_time until{};
    wall_time expires_at{};
};

/// The inbox inside a write transaction.
class inbox_table {
public:
    virtual ~inbox_table() = default;

    virtual result<std::optional<inbox_entry>> find(const inbox_key& key) = 0;
    /// False if the key is there already; nothing is changed then. Done before the handler runs, so
    /// that one statement both looks for a duplicate and records the message.
    virtual result<bool> insert(const inbox_record& record) = 0;
    /// Adds what the handler answered to the row that the same transaction inserted.
    virtual result<> respond(const inbox_key& key, std::string_view response) = 0;
    /// Takes a claim, or takes over one that ran out; false if another holds it or it is processed,
    /// which `find` then shows.
    virtual result<bool> claim(const inbox_claim& wanted, wall_time now) = 0;
    /// Turns the owner's claim into a processed record; false if the claim is no longer the
    /// owner's.
    virtual result<bool> complete(const inbox_record& record, std::string_view owner) = 0;
    /// Gives the claim up, so that the message can be tried again.
    virtual result<bool> release(const inbox_key& key, std::string_view owner) = 0;
};

/// The inbox as readers see it.
class inbox_reader {
public:
    virtual ~inbox_reader() = default;

    virtual result<std::optional<inbox_entry>> find(const inbox_key& key) = 0;
    virtual result<std::int64_t> count() = 0;
};

}  // namespace posthorn
