#pragma once

#include <functional>
#include <string>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/run/environment.hpp"
#include "base/text/utf8.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "engine/steps/upgrade.hpp"
#include "feature/admin_route.hpp"
#include "feature/answers.hpp"
#include "store/async.hpp"

/// What the routes of workflows share.
namespace posthorn {

/// What they work on.
///
/// Lifetime: outlives the routes.
struct workflow_desk {
    store& where;
    const environment& env;
    code_finder find_code{};  // Empty where no node runs.
};

struct named_instance {
    std::string workflow;
    std::string id;
};

[[nodiscard]] inline named_instance instance_in(const http_request& request) {
    return {request.parameters.at("workflow"), request.parameters.at("id")};
}

[[nodiscard]] result<instance_row> require_instance(store_reader& from,
                                                    const named_instance& which);

/// Reads, and answers with what `look(reader, answer)` put into the object.
template <class Look>
task<http_response> look_at(const workflow_desk& with, Look look) {
    boost::json::object answer;
    const auto read =
        co_await posthorn::read(with.where, with.env.readers,
                                [&](store_reader& from) -> result<> { return look(from, answer); });
    if (!read) co_return answer_to_error(read.error());
    co_return json_response(200, boost::json::serialize(answer));
}

/// The object that a request brings; empty if it brings nothing.
[[nodiscard]] result<boost::json::object> body_of(const http_request& request);
[[nodiscard]] result<std::string> text_in(const boost::json::object& body, std::string_view field);

using workflow_work = task<http_response> (*)(const workflow_desk&, http_request, admin_caller);

}  // namespace posthorn
