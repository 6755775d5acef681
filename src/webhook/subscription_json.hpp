#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "webhook/subscription_table.hpp"

namespace posthorn {

/// As people and programs see it: without its secret.
[[nodiscard]] boost::json::object to_json(const subscription& one);
[[nodiscard]] boost::json::object to_json(const webhook_attempt& one);

/// What a request says of a subscription, put over what it is. Fails with `invalid_argument`,
/// naming the field, which is put into `wrong_field` too; the secret is given apart.
result<> read_subscription(std::string_view body, subscription& into, std::string& secret,
                           std::string* wrong_field = nullptr);

}  // namespace posthorn
