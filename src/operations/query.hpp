#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/uuid.hpp>

#include "base/time/time_range.hpp"
#include "store/inspection.hpp"

namespace posthorn {

/// What a list of messages is asked for in a URL.
struct list_query {
    std::optional<outbox_status> status{};
    std::string destination{};
    std::string endpoint{};
    std::string correlation_id{};
    std::string causation_id{};
    std::string error{};
    std::string tenant{};
    std::string order_key{};
    std::optional<wall_time> since{};
    std::optional<wall_time> until{};
    std::int64_t before = 0;
    std::size_t limit = 100;
    bool of_inbox = false;  // From the inbox's database, where it has one of its own.
};

/// What a list of what was taken in is asked for. Of what was not, the node knows in memory alone:
/// that is narrowed by source, endpoint, message id and error.
struct inbox_query {
    std::string source{};
    std::string endpoint{};
    std::optional<uuid> message_id{};
    std::optional<bool> processed{};
    std::optional<wall_time> since{};
    std::optional<wall_time> until{};
    std::string error{};
    std::int64_t before = 0;
    std::size_t limit = 100;
};

// `error_code::invalid_argument` names what is unknown or wrong, and what is possible: what a list
// does not look at is not taken for a filter.

[[nodiscard]] result<list_query> parse_list_query(std::string_view query, wall_time now);
[[nodiscard]] result<inbox_query> parse_inbox_query(std::string_view query, wall_time now);
/// Of what was not taken in.
[[nodiscard]] result<inbox_query> parse_failed_query(std::string_view query);
/// Whether the payload is asked for.
[[nodiscard]] result<bool> parse_show_query(std::string_view query);

// What such parsers are made of. Errors are `error_code::invalid_argument` and name the parameter.

/// A number above zero.
[[nodiscard]] result<> read_number(std::string_view name, std::string_view text,
                                   std::int64_t& into);
[[nodiscard]] result<> read_number(std::string_view name, std::string_view text, std::size_t& into);
/// Whether a page may have so many rows.
[[nodiscard]] result<> check_page(std::size_t limit);

}  // namespace posthorn
