#include "audit/audit_routes.hpp"

#include <charconv>
#include <optional>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/async/run_on.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "base/time/time_range.hpp"
#include "feature/answers.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::int64_t limit_default = 50;
constexpr std::int64_t limit_max = 1000;

struct page_request {
    std::string who{};     // All of it.
    std::string target{};  // A part of it, whatever the case of letters; likewise the outcome.
    std::string outcome{};
    time_range when{};
    std::int64_t limit = limit_default;
    std::int64_t before = 0;  // None.
};

std::optional<std::int64_t> read_positive(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
    if (failure != std::errc{} || end != text.end() || number < 1) return std::nullopt;
    return number;
}

result<> read_parameter(std::string_view name, const std::string& value, page_request& into) {
    if (name == "since") return read_time(name, value, into.when.since);
    if (name == "until") return read_time(name, value, into.when.until);
    const auto number = read_positive(value);
    if (name == "who")
        into.who = value;
    else if (name == "target")
        into.target = value;
    else if (name == "outcome")
        into.outcome = value;
    else if (name == "limit" && number && *number <= limit_max)
        into.limit = *number;
    else if (name == "before" && number)
        into.before = *number;
    else
        return fail(error_code::invalid_argument,
                    "'{}={}' cannot be asked for; there are who, target, outcome, since, until, "
                    "limit (1 to {}) and before (the next of an earlier page)",
                    clean_utf8(name, 100), clean_utf8(value, 100), limit_max);
    return {};
}

result<page_request> read_query(std::string_view query, wall_time now) {
    page_request asked;
    POSTHORN_TRY(for_each_parameter(query, [&](std::string_view name, const std::string& value) {
        return read_parameter(name, value, asked);
    }));
    POSTHORN_TRY(check_times(asked.when, now));
    return asked;
}

/// What LIKE takes for "has this in it", both sides in small letters.
std::string pattern_of(std::string_view part) {
    std::string pattern = "%";
    for (const char c : part) {
        if (c == '%' || c == '_' || c == '!') pattern += '!';
        pattern += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    return pattern + '%';
}

struct page_statement {
    std::string sql;
    std::vector<sql_param> with;
};

/// The table is at most 100,000 short rows, so a filter needs no index.
page_statement to_statement(const page_request& asked, const std::string& target,
                            const std::string& outcome) {
    const auto before = asked.before > 0 ? asked.before : std::numeric_limits<std::int64_t>::max();
    page_statement made{
        "SELECT seq, at, who, what, target, outcome FROM posthorn_audit WHERE seq < ?", {before}};
    const auto add = [&made](std::string_view condition, sql_param value) {
        made.sql += condition;
        made.with.push_back(value);
    };
    if (!asked.who.empty()) add(" AND who = ?", std::string_view(asked.who));
    if (!asked.target.empty())
        add(" AND lower(target) LIKE ? ESCAPE '!'", std::string_view(target));
    if (!asked.outcome.empty())
        add(" AND lower(outcome) LIKE ? ESCAPE '!'", std::string_view(outcome));
    const auto& [since, until] = asked.when;
    if (since) add(" AND at >= ?", std::int64_t{since->time_since_epoch().count()});
    if (until) add(" AND at < ?", std::int64_t{until->time_since_epoch().count()});
    add(" ORDER BY seq DESC LIMIT ?", asked.limit);
    return made;
}

result<json::object> list(store& where, const page_request& asked) {
    const auto target = pattern_of(asked.target);
    const auto outcome = pattern_of(asked.outcome);
    const auto question = to_statement(asked, target, outcome);
    json::array entries;
    std::int64_t last = 0;
    POSTHORN_TRY(where.read([&](store_reader& from) {
        return from.query(question.sql, question.with, [&](const sql_row& row) {
            last = row.integer(0);
            entries.push_back(json::object{
                {"seq", last},
                {"at", to_iso8601(wall_time(std::chrono::milliseconds(row.integer(1))))},
                {"who", clean_utf8(row.text(2), 4000)},
                {"what", clean_utf8(row.text(3), 4000)},
                {"target", clean_utf8(row.text(4), 4000)},
                {"outcome", clean_utf8(row.text(5), 4000)}});
        });
    }));
    const bool is_full = entries.size() == static_cast<std::size_t>(asked.limit);
    json::object page{{"entries", std::move(entries)}};
    page["next"] = is_full ? json::value(last) : json::value(nullptr);
    return page;
}

task<http_response> answer(store& where, const environment& env, http_request request) {
    const auto asked = read_query(request.query, env.clock.wall());
    if (!asked) co_return answer_to_error(asked.error());
    const auto page = co_await run_on(env.readers, [&] { return list(where, *asked); });
    if (!page) co_return answer_to_error(page.error());
    co_return json_response(200, json::serialize(*page));
}

}  // namespace

admin_route audit_route(store& where, const environment& env) {
    return {"GET",
            "/_rf/audit",
            admin_role::viewer,
            {.summary = "Who changed what and who was refused, newest first.",
             .answer = "{entries: [{seq: integer, at: time, who: string, what: string,"
                       " target: string, outcome: string}], next: integer | null}",
             .query = "{who?: string, target?: string, outcome?: string, since?: time,"
                      " until?: time, limit?: integer, before?: integer}"},
            [&where, &env](http_request request, const admin_caller&) {
                return answer(where, env, std::move(request));
            }};
}

}  // namespace posthorn
