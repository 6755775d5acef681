#include "history/history_routes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/async/run_on.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "history/history_table.hpp"

namespace posthorn {
namespace {

constexpr std::size_t shown_characters_max = 64;

result<> read_one(std::string_view name, std::string value, history_query& into) {
    if (name == "range") {
        const auto* const known = std::ranges::find(history_ranges, value, &history_range::name);
        if (known == history_ranges.end())
            return fail(error_code::invalid_argument, "range is '{}'; give 15m, 6h or 7d",
                        clean_utf8(value, shown_characters_max));
        into.range = *known;
    } else if (name == "destination") {
        into.destination = std::move(value);
    } else if (name == "endpoint") {
        into.endpoint = std::move(value);
    } else if (name == "node") {
        into.node = std::move(value);
    } else {
        return fail(error_code::invalid_argument,
                    "'{}' cannot be asked for; use range, destination, endpoint or node",
                    clean_utf8(name, shown_characters_max));
    }
    return {};
}

/// Reads lines of the history for one answer.
class reading {
public:
    reading(const history_keeper& keeper, const history_query& asked, store_reader& from,
            wall_time now)
        : keeper_(keeper), asked_(asked), from_(from), begin_(begin_of(asked.range, now)) {}

    [[nodiscard]] wall_time begin() const noexcept { return begin_; }
    [[nodiscard]] const std::set<std::string>& nodes() const noexcept { return nodes_; }

    result<history_chart> chart(const history_key& of) {
        POSTHORN_LET(rows, line(of));
        if (!of.name.empty()) {
            // A line has no row for a time in which it was idle; that of all has one.
            const auto kind =
                of.kind == history_kind::destination ? history_kind::outbox : history_kind::inbox;
            POSTHORN_LET(all, line({kind, {}}));
            for (auto& each : all) {
                each.numbers = {};
                rows.push_back(std::move(each));
            }
            std::ranges::sort(rows, {}, &history_row::at);
        }
        return lay_out(rows, asked_.range, begin_);
    }

private:
    /// By the second from memory where it has them, from the database what is older or of others.
    result<std::vector<history_row>> line(const history_key& of) {
        POSTHORN_LET(rows, read_history(from_, asked_.range.kept_by, begin_, of));
        if (asked_.range.step < asked_.range.kept_by) {
            if (const auto since = keeper_.recent_since())
                std::erase_if(rows, [&](const history_row& row) {
                    return row.node == keeper_.node() && row.at + row.step > *since;
                });
            std::ranges::move(keeper_.recent(begin_, of), std::back_inserter(rows));
            std::ranges::sort(rows, {}, &history_row::at);
        }
        for (const auto& each : rows) nodes_.insert(each.node);
        if (!asked_.node.empty())
            std::erase_if(rows, [&](const history_row& row) { return row.node != asked_.node; });
        return rows;
    }

    const history_keeper& keeper_;
    const history_query& asked_;
    store_reader& from_;
    wall_time begin_;
    std::set<std::string> nodes_;
};

using field = double (*)(const history_point&);
struct shown_field {
    std::string_view name;
    field of;
};

constexpr double ms_per_second = 1000;

/// Not known where nothing was sent.
constexpr double latency(double ms) {
    return ms > 0 ? ms : std::numeric_limits<double>::quiet_NaN();
}

constexpr std::array outbox_fields{
    shown_field{"arrived", [](const history_point& at) { return at.came; }},
    shown_field{"sent", [](const history_point& at) { return at.done; }},
    shown_field{"failed", [](const history_point& at) { return at.failed; }},
    shown_field{"givenUp", [](const history_point& at) { return at.dead; }},
    shown_field{"p50Ms", [](const history_point& at) { return latency(at.p50_ms); }},
    shown_field{"p99Ms", [](const history_point& at) { return latency(at.p99_ms); }},
    shown_field{"waiting", [](const history_point& at) { return static_cast<double>(at.waiting); }},
    shown_field{
        "oldestSeconds",
        [](const history_point& at) { return static_cast<double>(at.oldest_ms) / ms_per_second; }},
};
constexpr std::array inbox_fields{
    shown_field{"handled", [](const history_point& at) { return at.done; }},
    shown_field{"failed", [](const history_point& at) { return at.failed; }},
    shown_field{"duplicates", [](const history_point& at) { return at.duplicates; }},
    shown_field{"p50Ms", [](const history_point& at) { return latency(at.p50_ms); }},
    shown_field{"p99Ms", [](const history_point& at) { return latency(at.p99_ms); }},
};

/// Numbers with as many digits as a chart can show: a year of them would be long.
std::string shown(const history_chart& chart, std::span<const shown_field> fields) {
    std::string text = "{";
    for (const auto& [name, of] : fields) {
        text += fmt::format("{}\"{}\":[", text.size() > 1 ? "," : "", name);
        for (std::size_t i = 0; i < chart.size(); ++i) {
            if (i > 0) text += ',';
            const auto value = chart[i] ? of(*chart[i]) : std::numeric_limits<double>::quiet_NaN();
            if (std::isnan(value))
                text += "null";
            else
                fmt::format_to(std::back_inserter(text), "{:.6g}", value);
        }
        text += ']';
    }
    return text + "}";
}

std::string shown(const auto& names) {
    std::vector<std::string> quoted;
    for (const std::string& each : names)
        quoted.push_back(
            boost::json::serialize(boost::json::string(clean_utf8(each, each.size()))));
    return fmt::format("[{}]", fmt::join(quoted, ","));
}

result<std::string> answer_of(const history_keeper& keeper, const history_query& asked,
                              store_reader& from, wall_time now) {
    reading lines(keeper, asked, from, now);
    std::string charts;
    if (asked.endpoint.empty()) {
        const auto kind =
            asked.destination.empty() ? history_kind::outbox : history_kind::destination;
        POSTHORN_LET(outbox, lines.chart({kind, asked.destination}));
        charts += fmt::format(",\"outbox\":{}", shown(outbox, outbox_fields));
    }
    if (asked.destination.empty()) {
        const auto kind = asked.endpoint.empty() ? history_kind::inbox : history_kind::endpoint;
        POSTHORN_LET(inbox, lines.chart({kind, asked.endpoint}));
        charts += fmt::format(",\"inbox\":{}", shown(inbox, inbox_fields));
    }
    return fmt::format(
        R"({{"range":"{}","from":"{}","stepSeconds":{},"points":{},"nodes":{},"endpoints":{}{}}})",
        asked.range.name, to_iso8601(lines.begin()), asked.range.step.count(), asked.range.slots,
        shown(lines.nodes()), shown(keeper.names(history_kind::endpoint)), charts);
}

task<http_response> answer(const history_deps& with, const history_keeper& keeper,
                           http_request request) {
    const auto asked = parse_history_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    std::string text;
    const auto read = co_await run_on(with.env.readers, [&] {
        return with.where.read([&](store_reader& from) -> result<> {
            POSTHORN_LET(made, answer_of(keeper, *asked, from, with.env.clock.wall()));
            text = std::move(made);
            return {};
        });
    });
    if (!read) co_return answer_to_error(read.error());
    co_return json_response(200, std::move(text));
}

}  // namespace

result<history_query> parse_history_query(std::string_view query) {
    history_query asked;
    POSTHORN_TRY(for_each_parameter(query, [&](std::string_view name, const std::string& value) {
        return read_one(name, value, asked);
    }));
    if (!asked.destination.empty() && !asked.endpoint.empty())
        return fail(error_code::invalid_argument,
                    "give a destination or an endpoint, not both: one is of the outbox, the other "
                    "of the inbox");
    return asked;
}

admin_route history_route(const history_deps& with, const history_keeper& keeper) {
    static constexpr std::array shapes{named_shape{"Series", "[number | null]"}};
    return {"GET",
            "/_rf/history",
            admin_role::viewer,
            {.summary = "What the node did, in evenly spaced points; null where no node ran.",
             .answer = "{range: string, from: time, stepSeconds: integer, points: integer,"
                       " nodes: [string], endpoints: [string],"
                       " outbox?: {arrived: Series, sent: Series, failed: Series, givenUp: Series,"
                       " p50Ms: Series, p99Ms: Series, waiting: Series, oldestSeconds: Series},"
                       " inbox?: {handled: Series, failed: Series, duplicates: Series,"
                       " p50Ms: Series, p99Ms: Series}}",
             .query = "{range?: '15m' | '6h' | '7d', destination?: string, endpoint?: string,"
                      " node?: string}",
             .shapes = shapes},
            [&with, &keeper](http_request request, const admin_caller&) {
                return answer(with, keeper, std::move(request));
            }};
}

}  // namespace posthorn
