#include "webhook/routes/route_kit.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "feature/answers.hpp"

namespace posthorn {

http_response answer_with(const boost::json::object& shown) {
    return json_response(200, boost::json::serialize(shown));
}

http_response refuse_secret() {
    return answer_to_error(
        {error_code::access_denied,
         "this shows a secret, which needs a key with that right: secrets = true "
         "beside it in admin.keys"});
}

result<uuid> subscription_in(const http_request& request) {
    const auto& text = request.parameters.at("id");
    if (const auto id = uuid::parse(text)) return *id;
    return fail(error_code::invalid_argument, "'{}' is not the id of a subscription",
                clean_utf8(text, 100));
}

error no_such_subscription(const uuid& id, const subscription_set& present) {
    const auto known = present.find(id);
    if (known && known->of.is_configured)
        return {error_code::invalid_argument,
                fmt::format("subscription {} stands in the configuration; change it there, under "
                            "webhooks.subscribers",
                            id.to_string())};
    if (known && known->of.is_given)
        return {error_code::invalid_argument,
                fmt::format("subscription {} is named by the program of this node; change it there",
                            id.to_string())};
    return {error_code::not_found, fmt::format("there is no subscription {}", id.to_string())};
}

http_response name_field(http_response refusal, std::string_view field) {
    if (field.empty()) return refusal;
    boost::system::error_code wrong;
    auto told = boost::json::parse(refusal.body, wrong);
    if (wrong || !told.is_object()) return refusal;
    told.as_object()["field"] = field;
    refusal.body = boost::json::serialize(told);
    return refusal;
}

boost::json::object headers_to_json(const http_headers& all) {
    boost::json::object shown;
    for (const auto& [name, value] : all) shown[name] = value;
    return shown;
}

}  // namespace posthorn
