#include "webhook/routes/hidden_headers.hpp"

#include <array>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace posthorn {
namespace {

namespace json = boost::json;

bool is_ours(std::string_view name) {
    constexpr std::array<std::string_view, 4> ours{"Content-Type", "User-Agent", "webhook-",
                                                   "X-Outbox-"};
    for (const auto each : ours)
        if (name.starts_with(each)) return true;
    return false;
}

task<http_response> answer_without_headers(admin_handler answer, http_request request,
                                           admin_caller who) {
    const bool may_see = who.rights.secrets;
    auto told = co_await answer(std::move(request), std::move(who));
    if (may_see || told.status != 200) co_return told;
    boost::system::error_code wrong;
    auto shown = json::parse(told.body, wrong);
    if (wrong) co_return told;
    hide_headers(shown);
    told.body = json::serialize(shown);
    co_return told;
}

}  // namespace

void hide_headers(json::value& shown) {
    if (auto* const list = shown.if_array())
        for (auto& each : *list) hide_headers(each);
    auto* const fields = shown.if_object();
    if (fields == nullptr) return;
    for (auto& [name, value] : *fields) {
        if (name != "headers" || !value.is_object()) {
            hide_headers(value);
            continue;
        }
        for (auto& [header, text] : value.as_object())
            if (!is_ours(header)) text = "(hidden)";
    }
}

admin_route hiding_headers(admin_route of) {
    of.answer = [answer = std::move(of.answer)](http_request request, admin_caller who) {
        return answer_without_headers(answer, std::move(request), std::move(who));
    };
    return of;
}

}  // namespace posthorn
