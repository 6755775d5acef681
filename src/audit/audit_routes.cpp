#include "audit/audit_routes.hpp"

#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <posthorn/detail/time.hpp>

#include "base/async/run_on.hpp"
#include "base/text/percent.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::int64_t limit_default = 50;
constexpr std::int64_t limit_max = 1000;

struct page_request {
    std::int64_t limit = limit_default;
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    std::string who{};      // These three if not empty: exactly this one,
    std::string target{};   // contains this,
    std::string outcome{};  // likewise.
    std::optional<wall_time> since{};
    std::optional<wall_time> until{};
};

std::optional<std::int64_t> read_positive(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
    if (failure != std::errc{} || end != text.end() || number < 1) return std::nullopt;
    return number;
}

result<> read_parameter(std::string_view name, std::string value, page_request& into) {
    const auto number = read_positive(value);
    const auto time = parse_iso8601(value);
    if (name == "limit" && number && *number <= limit_max)
        into.limit = *number;
    else if (name == "before" && number)
        into.before = *number;
    else if (name == "since" && time)
        into.since = time;
    else if (name == "until" && time)
        into.until = time;
    else if (name == "who")
        into.who = std::move(value);
    else if (name == "target")
        into.target = std::move(value);
    else if (name == "outcome")
        into.outcome = std::move(value);
    else
        return fail(error_code::invalid_argument,
                    "'{}={}' cannot be asked for; there are limit (1 to {}), before (the next of "
                    "an earlier page), who, target and outcome (a part of it), since and until "
                    "(such as 2026-01-31T12:00:00Z)",
                    clean_utf8(name, 100), clean_utf8(value, 100), limit_max);
    return {};
}

result<page_request> read_query(std::string_view query) {
    page_request asked;
    while (!query.empty()) {
        const auto pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        const auto name = pair.substr(0, pair.find('='));
        auto value = percent_decode(pair.substr(std::min(pair.size(), name.size() + 1)));
        if (!value) return fail(error_code::invalid_argument, "the query is not percent-encoded");
        POSTHORN_TRY(read_parameter(name, *std::move(value), asked));
    }
    return asked;
}

/// The rows that fit; there are 100,000 at most, by the audit's own limit.
struct page_statement {
    std::string sql =
        "SELECT seq, at, who, what, target, outcome FROM posthorn_audit WHERE seq < ?";
    std::vector<sql_param> with{};
};

page_statement statement_of(const page_request& asked) {
    page_statement made;
    made.with.emplace_back(asked.before);
    const auto narrow = [&](std::string_view condition, sql_param by) {
        made.sql += condition;
        made.with.push_back(by);
    };
    if (!asked.who.empty()) narrow(" AND who = ?", std::string_view(asked.who));
    // A text without a part of it is another one, on either database; LIKE is not alike on both.
    if (!asked.target.empty())
        narrow(" AND replace(target, ?, '') <> target", std::string_view(asked.target));
    if (!asked.outcome.empty())
        narrow(" AND replace(outcome, ?, '') <> outcome", std::string_view(asked.outcome));
    if (asked.since) narrow(" AND at >= ?", asked.since->time_since_epoch().count());
    if (asked.until) narrow(" AND at < ?", asked.until->time_since_epoch().count());
    narrow(" ORDER BY seq DESC LIMIT ?", asked.limit);
    return made;
}

result<json::object> list(store& where, const page_request& asked) {
    json::array entries;
    std::int64_t last = 0;
    const auto statement = statement_of(asked);
    POSTHORN_TRY(where.read([&](store_reader& from) {
        return from.query(statement.sql, statement.with, [&](const sql_row& row) {
            last = row.integer(0);
            const auto text = [&](std::size_t at) { return clean_utf8(row.text(at), 4000); };
            entries.push_back(json::object{
                {"seq", last},
                {"at", to_iso8601(wall_time(std::chrono::milliseconds(row.integer(1))))},
                {"who", text(2)},
                {"what", text(3)},
                {"target", text(4)},
                {"outcome", text(5)}});
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
             .query = "{who?: string, target?: string, outcome?: string, since?: time,"
                      " until?: time, limit?: integer, before?: integer}"},
            [&where, &readers](http_request request, const admin_caller&) {
                return answer(where, readers, std::move(request));
            }};
}

}  // namespace posthorn
