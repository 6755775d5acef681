#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "store/store.hpp"

namespace posthorn {

/// A type of events, as subscribers are told of it: a row of `webhook_event_types`.
struct event_type {
    std::string name{};
    std::string description{};
    std::string schema{};   // A JSON Schema of the payload, or empty.
    std::string example{};  // A payload, which tests send; or empty.
    wall_time created_at{};
    std::optional<wall_time> updated_at{};
};

[[nodiscard]] boost::json::object to_json(const event_type& one);

/// What a request says of a type. Fails with `invalid_argument`, naming the field.
[[nodiscard]] result<event_type> read_event_type(std::string_view body);

/// All of them, by name.
result<std::vector<event_type>> read_event_types(store_reader& from);
result<std::optional<event_type>> find_event_type(store_reader& from, std::string_view name);
/// Adds a type, or puts what is given in the place of what it was.
result<> put_event_type(store_transaction& tx, const event_type& one, wall_time now);
/// False if it is not there.
result<bool> delete_event_type(store_transaction& tx, std::string_view name);

/// `invalid_argument` if a pattern covers none of these types.
[[nodiscard]] result<> check_pattern(std::string_view pattern, const std::vector<event_type>& of);

}  // namespace posthorn
