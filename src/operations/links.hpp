#pragma once

#include <optional>
#include <string>
#include <vector>

#include <posthorn/uuid.hpp>

#include "store/store.hpp"

namespace posthorn {

/// A message of the outbox, as far as another one leads to it.
struct linked_message {
    std::string id;
    std::string destination;
    std::string endpoint;
    std::string status;
    wall_time created_at{};
};

/// A message that this node took in.
struct taken_message {
    std::string source;
    std::string endpoint;
    std::optional<wall_time> processed_at{};  // Empty while an external handler has a claim on it.
    std::optional<wall_time> claimed_until{};
};

/// What led to a message, and what it led to, as far as this node knows.
struct message_links {
    std::optional<linked_message> sent{};        // The message itself, in the outbox here.
    std::string cause_id;                        // Empty if it has none.
    std::optional<linked_message> cause_sent{};  // The cause, if this node sent it,
    std::optional<taken_message> cause_taken{};  // or took it in.
    std::vector<taken_message> taken{};          // The message itself, in the inbox here.
    std::vector<linked_message> caused{};
    bool more = false;  // There may be others: what was sent long after it is not looked at.
};

struct link_limits {
    std::int64_t rows_max = 10'000;  // Messages looked at for what was caused.
    std::int64_t caused_max = 100;
};

/// Of a message that was sent or taken in here; of one that is not known, nothing is found. No
/// index leads from a cause to its effects, so a bounded number of messages from that time on is
/// looked at. Blocks.
[[nodiscard]] result<message_links> find_links(const std::vector<store*>& stores, const uuid& id,
                                               const link_limits& limits = {});

}  // namespace posthorn
