#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/dead_letters.hpp"

namespace posthorn {

/// What a URL asks for among the messages that were given up.
struct dead_query {
    dead_filter wanted{};
    std::int64_t before = 0;  // Of a list.
    std::int64_t after = 0;   // Of a change of many.
    std::size_t limit = 100;
    bool all = false;       // Of a change of many: without a filter it must be said.
    bool of_inbox = false;  // From the inbox's database, where it has one of its own.
};

/// `destination=stock&cause=7&since=2026-02-14T12:00:00Z`. `error_code::invalid_argument` names
/// what is unknown or wrong, and what is possible.
[[nodiscard]] result<dead_query> parse_dead_query(std::string_view query, wall_time now);

/// The same of the groups, which are narrowed by destination alone.
[[nodiscard]] result<dead_query> parse_groups_query(std::string_view query);

enum class dead_verb : std::uint8_t { requeue, resolve, remove, reopen, edit };
[[nodiscard]] std::string_view to_string(dead_verb verb) noexcept;

/// What the body of a change says.
struct dead_request {
    dead_verb verb = dead_verb::requeue;
    dead_change how{};
    message_edit edit{};
    bool then_requeue = false;  // After an edit.
};

/// An empty body says nothing. Fields that the verb does not know are refused:
///
/// | verb    | fields                                                                          |
/// |---------|---------------------------------------------------------------------------------|
/// | requeue | `newId`, `expiresInMs`, which needs it                                          |
/// | resolve | `reason`, which must be there                                                   |
/// | reopen  | none                                                                            |
/// | delete  | none                                                                            |
/// | edit    | `payload`, `headers`, `endpoint`, `destination`, `contentType`, `maxRetries`,   |
/// |         | `requeue`, `newId`, `expiresInMs`                                               |
[[nodiscard]] result<dead_request> parse_dead_request(dead_verb verb, std::string_view body);

}  // namespace posthorn
