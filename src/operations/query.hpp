#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/time_range.hpp"
#include "store/inspection.hpp"

namespace posthorn {

/// What a list is asked for in a URL.
struct list_query {
    std::optional<outbox_status> status{};
    std::string destination{};
    std::string endpoint{};
    std::string correlation_id{};
    std::string causation_id{};
    std::string error{};
    std::string tenant{};
    std::string order_key{};
    std::string source{};  // Of inbox rows.
    std::optional<wall_time> since{};
    std::optional<wall_time> until{};
    std::int64_t before = 0;
    std::size_t limit = 100;
    bool of_inbox = false;  // From the inbox's database, where it has one of its own.
};

/// `error_code::invalid_argument` names what is unknown or wrong, and what is possible.
[[nodiscard]] result<list_query> parse_list_query(std::string_view query, wall_time now);
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
