#include "webhook/routes/route_kit.hpp"

#include <algorithm>
#include <charconv>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/percent.hpp"
#include "base/text/utf8.hpp"

namespace posthorn {

http_response answer_with(const boost::json::object& shown) {
    return json_response(200, boost::json::serialize(shown));
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

result<query_fields> read_query_fields(std::string_view query,
                                       std::span<const std::string_view> known) {
    query_fields asked;
    while (!query.empty()) {
        const auto pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        const auto name = pair.substr(0, pair.find('='));
        const auto value = percent_decode(pair.substr(std::min(pair.size(), name.size() + 1)));
        if (!value) return fail(error_code::invalid_argument, "the query is not percent-encoded");
        if (std::ranges::find(known, name) == known.end() ||
            !asked.try_emplace(std::string(name), *value).second)
            return fail(error_code::invalid_argument,
                        "'{}' cannot be asked for; once each there are {}", clean_utf8(name, 100),
                        fmt::join(known, ", "));
    }
    return asked;
}

result<std::int64_t> number_in(const query_fields& asked, query_number which) {
    const auto found = asked.find(which.name);
    if (found == asked.end()) return which.unless_given;
    const std::string_view text = found->second;
    std::int64_t number = 0;
    const auto [end, wrong] = std::from_chars(text.begin(), text.end(), number);
    if (wrong != std::errc{} || end != text.end() || number < 1 || number > which.max)
        return fail(error_code::invalid_argument, "{} cannot be '{}'; write 1 to {}", which.name,
                    clean_utf8(text, 100), which.max);
    return number;
}

}  // namespace posthorn
