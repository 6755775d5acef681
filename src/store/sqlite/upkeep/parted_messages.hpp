#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace posthorn::sqlite {

/// How far the numbers of a database's messages have come.
struct message_numbers {
    std::int64_t outbox = 0;
    std::int64_t inbox = 0;
};

/// A message that one of two histories of a database has alone.
struct parted_message {
    bool is_outbox = true;
    std::string id{};
    std::string peer{};  // Where it goes to, or comes from.
    std::string endpoint{};
    std::string status{};  // Of the outbox.
};

struct parted_messages {
    static constexpr std::size_t listed_max = 1000;

    std::vector<parted_message> listed{};
    std::uint64_t outbox = 0;  // All of them.
    std::uint64_t inbox = 0;
};

// Both read a database that no node has open, and leave its log as it is.

[[nodiscard]] result<message_numbers> numbers_of(const std::string& database);
/// The messages that came after those numbers.
[[nodiscard]] result<parted_messages> messages_after(const std::string& database,
                                                     const message_numbers& before);

}  // namespace posthorn::sqlite
