#pragma once

#include <boost/json/serialize.hpp>

#include <posthorn/uuid.hpp>

#include "base/result.hpp"
#include "feature/answers.hpp"

namespace posthorn {

/// What was found as JSON, or why not.
template <class T>
[[nodiscard]] http_response answer_to(const result<T>& found) {
    return found ? json_response(200, boost::json::serialize(to_json(*found)))
                 : answer_to_error(found.error());
}

/// The `{messageId}` of a route's path.
[[nodiscard]] inline result<uuid> message_id_of(const http_request& request) {
    const auto text = request.parameters.find("messageId");
    if (text != request.parameters.end())
        if (const auto id = uuid::parse(text->second)) return *id;
    return fail(error_code::invalid_argument, "the path names no message id (expected a UUID)");
}

}  // namespace posthorn
