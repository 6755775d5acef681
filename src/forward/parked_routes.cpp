#include "forward/parked_routes.hpp"

#include <array>
#include <charconv>
#include <utility>

#include <boost/json.hpp>

#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "forward/forward_rows.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::int64_t parked_limit_max = 200;

constexpr std::array parked_shapes{
    named_shape{"ParkedWork",
                "{id: string, category: string, target: string, retryCount: integer,"
                " createdAt: time, maxRetries?: integer, lastAttemptAt?: time, lastError?: string,"
                " originInstance?: string}"}};

struct parked_question {
    std::string site;
    parked_page page;
};

/// Names and values of a query. `take(name, value)` says whether it knows it.
template <class Take>
result<> read_pairs(std::string_view query, const Take& take) {
    return for_each_parameter(
        query, [&](std::string_view name, const std::string& value) -> result<> {
            if (take(name, value)) return {};
            return fail(error_code::invalid_argument,
                        "'{}={}' cannot be asked for; see the route in openapi.json",
                        clean_utf8(name, 100), clean_utf8(value, 100));
        });
}

bool take_count(std::string_view text, std::int64_t least, std::int64_t most, std::int64_t& into) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
    if (failure != std::errc{} || end != text.end() || number < least || number > most)
        return false;
    into = number;
    return true;
}

result<parked_question> read_parked_question(std::string_view query) {
    parked_question asked;
    POSTHORN_TRY(read_pairs(query, [&](std::string_view name, const std::string& value) {
        if (name == "limit") return take_count(value, 1, parked_limit_max, asked.page.limit);
        if (name == "after") return take_count(value, 0, INT64_MAX, asked.page.after);
        asked.site = value;
        return name == "site" && !value.empty();
    }));
    return asked;
}

http_response not_a_centre() {
    return answer_to_error({error_code::invalid_argument,
                            "sites are asked by the node of their centre while it runs: set "
                            "centre.enabled there, and give --url"});
}

json::object shown_parked(const held_work& one) {
    const auto time = [](std::int64_t ms) {
        return to_iso8601(wall_time{std::chrono::milliseconds(ms)});
    };
    json::object shown{
        {"id", clean_utf8(one.id, 200)},         {"category", clean_utf8(one.category, 200)},
        {"target", clean_utf8(one.target, 200)}, {"retryCount", one.retry_count},
        {"createdAt", time(one.created_at)},     {"maxRetries", one.max_retries}};
    if (one.last_attempt_at) shown["lastAttemptAt"] = time(*one.last_attempt_at);
    if (!one.last_error.empty()) shown["lastError"] = clean_utf8(one.last_error, 4000);
    if (!one.origin_instance.empty())
        shown["originInstance"] = clean_utf8(one.origin_instance, 200);
    return shown;
}

task<http_response> parked_here(const forward_office& with, parked_page page) {
    json::object shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(rows, read_held(from, {.parked = true,
                                                .category = {},
                                                .after = page.after,
                                                .limit = page.limit}));
            json::array all;
            for (const auto& each : rows) all.push_back(shown_parked(each));
            if (std::cmp_equal(rows.size(), page.limit)) shown["next"] = rows.back().seq;
            shown["messages"] = std::move(all);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200, json::serialize(shown));
}

task<http_response> parked(const forward_office& with, http_request request) {
    auto asked = read_parked_question(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    if (asked->site.empty()) co_return co_await parked_here(with, asked->page);
    if (with.relay == nullptr) co_return not_a_centre();
    co_return co_await with.relay->parked(std::move(asked->site), asked->page);
}

}  // namespace

result<std::string> site_asked_for(std::string_view query) {
    std::string site;
    POSTHORN_TRY(read_pairs(query, [&](std::string_view name, const std::string& value) {
        site = value;
        return name == "site" && !value.empty();
    }));
    return site;
}

task<http_response> act_at_site(const forward_office& with, std::string site, uuid id,
                                parked_action what) {
    if (with.relay == nullptr) co_return not_a_centre();
    co_return co_await with.relay->act(std::move(site), id, what);
}

admin_route parked_route(const forward_office& with) {
    return {"GET",
            "/_rf/forward/parked",
            admin_role::viewer,
            {.summary = "What is parked, the oldest first; at a centre that of a site, too.",
             .answer = "{messages: [ParkedWork], next?: integer, site?: string, mirror?: boolean,"
                       " note?: string}",
             .query = "{site?: string, limit?: integer, after?: integer}",
             .shapes = parked_shapes},
            [&with](http_request request, admin_caller /*who*/) {
                return parked(with, std::move(request));
            }};
}

}  // namespace posthorn
