#include "audit/audit_routes.hpp"

#include <array>
#include <charconv>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <posthorn/detail/time.hpp>

#include "base/async/run_on.hpp"
#include "feature/answers.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::int64_t limit_default = 50;
constexpr std::int64_t limit_max = 1000;

struct page_request {
    std::int64_t limit = limit_default;
    std::int64_t before = 0;  // None.
};

result<page_request> read_query(std::string_view query) {
    page_request asked;
    while (!query.empty()) {
        const auto pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        const auto name = pair.substr(0, pair.find('='));
        const auto text = pair.substr(std::min(pair.size(), name.size() + 1));
        std::int64_t number = 0;
        const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
        const bool is_number = failure == std::errc{} && end == text.end() && number > 0;
        if (name == "limit" && is_number && number <= limit_max)
            asked.limit = number;
        else if (name == "before" && is_number)
            asked.before = number;
        else
            return fail(error_code::invalid_argument,
                        "the query takes limit, 1 to {}, and before, the next of an earlier page",
                        limit_max);
    }
    return asked;
}

result<json::object> list(store& where, const page_request& asked) {
    json::array entries;
    std::int64_t last = 0;
    POSTHORN_TRY(where.read([&](store_reader& from) {
        const auto before =
            asked.before > 0 ? asked.before : std::numeric_limits<std::int64_t>::max();
        const std::array<sql_param, 2> with{before, asked.limit};
        return from.query(
            "SELECT seq, at, who, what, target, outcome FROM posthorn_audit WHERE seq < ?"
            " ORDER BY seq DESC LIMIT ?",
            with, [&](const sql_row& row) {
                last = row.integer(0);
                entries.push_back(json::object{
                    {"seq", last},
                    {"at", to_iso8601(wall_time(std::chrono::milliseconds(row.integer(1))))},
                    {"who", row.text(2)},
                    {"what", row.text(3)},
                    {"target", row.text(4)},
                    {"outcome", row.text(5)}});
            });
    }));
    const bool is_full = entries.size() == static_cast<std::size_t>(asked.limit);
    json::object page{{"entries", std::move(entries)}};
    page["next"] = is_full ? json::value(last) : json::value(nullptr);
    return page;
}

task<http_response> answer(store& where, executor& readers, http_request request) {
    const auto asked = read_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    const auto page = co_await run_on(readers, [&] { return list(where, *asked); });
    if (!page) co_return answer_to_error(page.error());
    co_return json_response(200, json::serialize(*page));
}

}  // namespace

admin_route audit_route(store& where, executor& readers) {
    return {"GET",
            "/_rf/audit",
            admin_role::viewer,
            {.summary = "Who changed what and who was refused, newest first.",
             .answer = "{entries: [{seq: integer, at: time, who: string, what: string,"
                       " target: string, outcome: string}], next: integer | null}",
             .query = "{limit?: integer, before?: integer}"},
            [&where, &readers](http_request request, const admin_caller&) {
                return answer(where, readers, std::move(request));
            }};
}

}  // namespace posthorn
