#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <posthorn/uuid.hpp>

#include "base/result.hpp"
#include "transport/http/types.hpp"
#include "webhook/subscription_index.hpp"

namespace posthorn {

// What the routes of webhooks share.

[[nodiscard]] http_response answer_with(const boost::json::object& shown);

/// The subscription that a path names.
[[nodiscard]] result<uuid> subscription_in(const http_request& request);
/// Why one is not among the rows: it stands in the configuration, or nowhere.
[[nodiscard]] error no_such_subscription(const uuid& id, const subscription_set& present);

/// A refusal that says which field of what was sent it is about.
[[nodiscard]] http_response name_field(http_response refusal, std::string_view field);

[[nodiscard]] boost::json::object headers_to_json(const http_headers& all);

using query_fields = std::map<std::string, std::string, std::less<>>;

/// What a query asks for: at most once each, and nothing but what is among the known names.
[[nodiscard]] result<query_fields> read_query_fields(std::string_view query,
                                                     std::span<const std::string_view> known);

/// A number of a query that lies within its limits; what it is unless given.
struct query_number {
    std::string_view name;
    std::int64_t max;
    std::int64_t unless_given;
};
[[nodiscard]] result<std::int64_t> number_in(const query_fields& asked, query_number which);

}  // namespace posthorn
