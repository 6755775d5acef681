#include "engine/routes/workflow_desk.hpp"

#include <boost/json/parse.hpp>

namespace posthorn {
namespace {

namespace json = boost::json;

}  // namespace

result<instance_row> require_instance(store_reader& from, const named_instance& which) {
    POSTHORN_LET(found, find_instance(from, which.workflow, which.id));
    if (!found)
        return fail(error_code::not_found, "there is no workflow {} {}",
                    clean_utf8(which.workflow, 100), clean_utf8(which.id, 100));
    return *std::move(found);
}

result<json::object> body_of(const http_request& request) {
    if (request.body.empty()) return json::object{};
    boost::system::error_code wrong;
    auto body = json::parse(request.body, wrong);
    if (wrong || !body.is_object())
        return fail(error_code::invalid_argument, "the body is not a JSON object");
    return std::move(body.as_object());
}

result<std::string> text_in(const json::object& body, std::string_view field) {
    const auto* const found = body.if_contains(field);
    if (found == nullptr) return std::string{};
    if (!found->is_string()) return fail(error_code::invalid_argument, "{} is to be a text", field);
    return std::string(found->as_string());
}

}  // namespace posthorn
