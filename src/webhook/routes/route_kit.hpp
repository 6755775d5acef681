#pragma once

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

/// To those whom nothing may be shown that opens something.
[[nodiscard]] http_response refuse_secret();

/// The subscription that a path names.
[[nodiscard]] result<uuid> subscription_in(const http_request& request);
/// Why one is not among the rows: it stands in the configuration, or nowhere.
[[nodiscard]] error no_such_subscription(const uuid& id, const subscription_set& present);

/// A refusal that says which field of what was sent it is about.
[[nodiscard]] http_response name_field(http_response refusal, std::string_view field);

[[nodiscard]] boost::json::object headers_to_json(const http_headers& all);

}  // namespace posthorn
