#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// Calls `take` for each `name=value` of a URL's query, decoded, until one fails. A name that is
/// there twice is `error_code::invalid_argument`: which of the two counts, none could know.
[[nodiscard]] result<> for_each_parameter(
    std::string_view query,
    const std::function<result<>(std::string_view name, const std::string& value)>& take);

/// Whether it can be read, and has each name once.
[[nodiscard]] result<> check_query(std::string_view query);

using query_fields = std::map<std::string, std::string, std::less<>>;

/// The parameters by name. `error_code::invalid_argument` names one that is unknown or there
/// twice.
[[nodiscard]] result<query_fields> read_query_fields(std::string_view query,
                                                     std::span<const std::string_view> known);

/// A number from 1 to `max`, and what it is unless given.
struct query_number {
    std::string_view name;
    std::int64_t max;
    std::int64_t unless_given;
};
[[nodiscard]] result<std::int64_t> number_in(const query_fields& asked, query_number which);

}  // namespace posthorn
