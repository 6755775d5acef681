#include "app/cli/kit/message_output.hpp"

#include <array>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "app/cli/kit/presentation.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

std::string field(const json::object& from, std::string_view name) {
    const auto* value = from.if_contains(name);
    if (value == nullptr || value->is_null()) return "";
    return value->is_string() ? std::string(value->as_string()) : json::serialize(*value);
}

std::string distance(const json::object& from, std::string_view name, wall_time now) {
    const auto time = parse_iso8601(field(from, name));
    return time ? to_distance(*time, now) : "";
}

std::string age(const json::object& from, std::string_view name) {
    const auto* value = from.if_contains(name);
    if (value == nullptr || !value->is_int64()) return "";
    return to_age(std::chrono::milliseconds(value->as_int64()));
}

// Attempts: those that failed and, of a message that was sent, the one that did not.
std::string tries(const json::object& row) {
    const auto* const failed = row.if_contains("retryCount");
    if (failed == nullptr || !failed->is_int64()) return "";
    return std::to_string(failed->as_int64() + (field(row, "status") == "Sent" ? 1 : 0));
}

// `120`, or `1000000+` where counting stopped.
std::string count(const json::object& from, std::string_view name) {
    const bool more = from.contains(fmt::format("{}AtLeast", name));
    return field(from, name) + (more ? "+" : "");
}

// The library writes 100.0 as 1E2.
std::string rate_of(const json::object& from) {
    const auto* value = from.if_contains("rate");
    return value != nullptr && value->is_number()
               ? fmt::format("{:g}/s", value->to_number<double>())
               : "";
}

const json::array& rows_of(const json::object& from, std::string_view name) {
    static const json::array none;
    const auto* value = from.if_contains(name);
    const auto* rows = value == nullptr ? nullptr : value->if_array();
    return rows == nullptr ? none : *rows;
}

template <class Add>
std::string table_of(const json::object& page, text_table table, Add add) {
    const auto& rows = rows_of(page, "messages");
    for (const auto& row : rows)
        if (row.is_object()) add(table, row.as_object());
    std::string text = rows.empty() ? "none\n" : table.to_text();
    if (const auto next = field(page, "next"); !next.empty())
        text += fmt::format("more: add --before {}\n", next);
    return text;
}

std::string alarm_text(const json::object& from) {
    const auto* alarm = from.if_contains("undeliverable");
    if (alarm == nullptr || !alarm->is_object()) return "";
    const auto& fields = alarm->as_object();
    const auto number = count(fields, "count");
    if (number.empty() || number == "0") return "";
    const auto& causes = rows_of(fields, "causes");
    if (causes.size() < 2)
        return fmt::format("undeliverable  {}, such as for {}: {}\n", number,
                           to_cell(field(fields, "destination")),
                           to_cell(field(fields, "error"), 200));
    std::string text = fmt::format("undeliverable  {}\n", number);
    for (const auto& each : causes)
        if (const auto* one = each.if_object())
            text += fmt::format("               {} for {}: {}\n", count(*one, "count"),
                                to_cell(field(*one, "destination")),
                                to_cell(field(*one, "error"), 200));
    return text;
}

const json::object& object_in(const json::object& from, std::string_view name) {
    static const json::object none;
    const auto* value = from.if_contains(name);
    const auto* found = value == nullptr ? nullptr : value->if_object();
    return found == nullptr ? none : *found;
}

// Who waits for a person behind whom.
std::string blocked_text(const json::object& stats, wall_time now) {
    const auto& blocked = object_in(stats, "blocked");
    const auto& keys = rows_of(blocked, "keys");
    if (keys.empty()) return "";
    text_table table({"BLOCKED BY", "STATUS", "GIVEN UP", "DESTINATION", "ORDER KEY", "WAITING"});
    for (const auto& each : keys)
        if (const auto* row = each.if_object()) {
            const auto& by = object_in(*row, "behind");
            table.add({to_cell(field(by, "messageId")), field(by, "status"),
                       distance(by, "since", now), to_cell(field(*row, "destination"), 24),
                       to_cell(field(*row, "orderKey"), 32), count(*row, "waiting")});
        }
    return '\n' + table.to_text();
}

// What a list says of a message that is not sent.
std::string trouble_of(const json::object& row) {
    if (row.contains("parked") && !row.contains("lastError"))
        return fmt::format("waits behind an earlier one of order key {}", field(row, "orderKey"));
    return field(row, "lastError");
}

std::string waits_behind_text(const json::object& message, wall_time now) {
    const auto& by = object_in(message, "waitsBehind");
    const auto ago = distance(by, "since", now);
    return fmt::format("{} ({}{}) of order key {}", to_cell(field(by, "messageId")),
                       field(by, "status"), ago.empty() ? "" : ", given up " + ago,
                       to_cell(field(message, "orderKey"), 200));
}

// Said only where it is bad news.
std::string durability_text(const json::object& from) {
    const auto* durable = from.if_contains("durable");
    if (durable == nullptr || *durable != false) return "";
    return "NOT DURABLE    the store is in memory and ends with the node\n";
}

}  // namespace

std::string outbox_table_text(const json::object& page, wall_time now) {
    return table_of(
        page, text_table({"ID", "DESTINATION", "ENDPOINT", "STATUS", "TRIES", "MADE", "ERROR"}),
        [now](text_table& table, const json::object& row) {
            table.add({to_cell(field(row, "messageId")), to_cell(field(row, "destination"), 24),
                       to_cell(field(row, "endpoint"), 32), field(row, "status"), tries(row),
                       distance(row, "createdAt", now),
                       field(row, "status") == "Sent" ? "" : to_cell(trouble_of(row), any_length)});
        });
}

std::string dead_table_text(const json::object& page, wall_time now) {
    return table_of(
        page, text_table({"ID", "DESTINATION", "ENDPOINT", "TRIES", "GIVEN UP", "STATE", "ERROR"}),
        [now](text_table& table, const json::object& row) {
            table.add({to_cell(field(row, "messageId")), to_cell(field(row, "destination"), 24),
                       to_cell(field(row, "endpoint"), 32), field(row, "retryCount"),
                       distance(row, "closedAt", now), field(row, "state"),
                       to_cell(field(row, row.contains("resolution") ? "resolution" : "lastError"),
                               any_length)});
        });
}

std::string dead_groups_text(const json::object& page, wall_time now) {
    const auto& groups = rows_of(page, "groups");
    text_table table({"CAUSE", "COUNT", "DESTINATION", "ENDPOINT", "LAST", "ERROR"});
    for (const auto& each : groups)
        if (const auto* row = each.if_object())
            table.add({field(*row, "cause"), field(*row, "count"),
                       to_cell(field(*row, "destination"), 24),
                       to_cell(field(*row, "endpoint"), 32), distance(*row, "lastAt", now),
                       to_cell(field(*row, "text"), any_length)});
    std::string text = groups.empty() ? "none\n" : table.to_text();
    if (page.contains("more")) text += "more: add --limit\n";
    if (page.contains("ungrouped"))
        text += fmt::format("{} not looked at yet; ask again\n", field(page, "ungrouped"));
    return text;
}

std::string inbox_table_text(const json::object& page, wall_time now) {
    return table_of(
        page, text_table({"ID", "FROM", "ENDPOINT", "PROCESSED", "FORGOTTEN"}),
        [now](text_table& table, const json::object& row) {
            const auto done = distance(row, "processedAt", now);
            table.add({to_cell(field(row, "messageId")), to_cell(field(row, "sourceServiceId"), 24),
                       to_cell(field(row, "endpoint"), 32), done.empty() ? "at work" : done,
                       distance(row, "expiresAt", now)});
        });
}

std::string failed_table_text(const json::object& page, wall_time now) {
    const auto& messages = rows_of(page, "failed");
    text_table table({"ID", "FROM", "ENDPOINT", "LAST", "TIMES", "WHY"});
    for (const auto& each : messages)
        if (const auto* row = each.if_object())
            table.add({field(*row, "messageId"), to_cell(field(*row, "source"), 24),
                       to_cell(field(*row, "endpoint"), 32), distance(*row, "last", now),
                       field(*row, "times"), to_cell(field(*row, "why"), any_length)});
    return messages.empty() ? "none\n" : table.to_text();
}

std::string refused_table_text(const json::object& page, wall_time now) {
    const auto& calls = rows_of(page, "refused");
    text_table table({"ID", "FROM", "ENDPOINT", "WHEN", "STATUS", "ANSWER"});
    for (const auto& each : calls)
        if (const auto* row = each.if_object())
            table.add({field(*row, "messageId"), to_cell(field(*row, "source"), 24),
                       to_cell(field(*row, "endpoint"), 32), distance(*row, "at", now),
                       field(*row, "status"), to_cell(field(*row, "answer"), any_length)});
    return calls.empty() ? "none\n" : table.to_text();
}

std::string message_text(const json::object& message, wall_time now) {
    std::string text;
    for (const auto& each : message) {
        const std::string name(each.key());
        if (name == "attempts" || name == "payload" || name == "headers" || name == "response")
            continue;
        if (name == "waitsBehind") {
            text += fmt::format("{:<14} {}\n", "waits behind", waits_behind_text(message, now));
            continue;
        }
        const auto ago = distance(message, name, now);
        text += fmt::format("{:<14} {}{}\n", to_cell(name), to_cell(field(message, name), 400),
                            ago.empty() ? "" : fmt::format(" ({})", ago));
    }
    for (const auto& each : rows_of(message, "attempts"))
        if (each.is_object())
            text += fmt::format(
                "{:<14} {} ({}): {}\n", "attempt " + field(each.as_object(), "attempt"),
                to_cell(field(each.as_object(), "at")), distance(each.as_object(), "at", now),
                to_cell(field(each.as_object(), "error"), 400));
    if (message.contains("headers"))
        text += "headers        " + to_shown(field(message, "headers")) + '\n';
    if (message.contains("response"))
        text += "response\n" + to_shown(field(message, "response")) + '\n';
    if (message.contains("payload"))
        text += "payload\n" + to_shown(field(message, "payload")) + '\n';
    return text;
}

std::string inbox_message_text(const json::object& answer, wall_time now) {
    std::string text;
    for (const auto& each : rows_of(answer, "received"))
        if (const auto* one = each.if_object())
            text += (text.empty() ? "" : "\n") + message_text(*one, now);
    for (const auto& each : rows_of(answer, "failed"))
        if (const auto* one = each.if_object())
            text +=
                fmt::format("{:<14} {} ({}), {}x: '{}' of {}: {}\n", "not taken in",
                            to_cell(field(*one, "last")), distance(*one, "last", now),
                            field(*one, "times"), to_cell(field(*one, "endpoint"), 255),
                            to_cell(field(*one, "source"), 255), to_cell(field(*one, "why"), 400));
    for (const auto& each : rows_of(answer, "refused"))
        if (const auto* call = each.if_object()) {
            text += fmt::format("{:<14} {} ({}): '{}' of {} answered with status {}\n", "refused",
                                to_cell(field(*call, "at")), distance(*call, "at", now),
                                to_cell(field(*call, "endpoint"), 255),
                                to_cell(field(*call, "source"), 255), field(*call, "status"));
            if (call->contains("answer")) text += to_shown(field(*call, "answer")) + '\n';
        }
    return text;
}

std::string outbox_stats_text(const json::object& stats, wall_time now) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> counts{
        {{"pending", "pending"},
         {"failed", "dead"},
         {"expired", "expired"},
         {"resolved", "resolved"},
         {"sent", "sent"}}};
    std::string text;
    for (const auto& [name, shown] : counts)
        if (stats.contains(name)) text += fmt::format("{:<14} {}\n", shown, count(stats, name));
    text += fmt::format("{:<14} {}\n", "oldest", age(stats, "oldestAgeMs"));
    if (const auto waiting = count(object_in(stats, "blocked"), "messages");
        !waiting.empty() && waiting != "0")
        text += fmt::format("{:<14} {}, behind one of their order key that was given up\n",
                            "blocked", waiting);
    text += alarm_text(stats);
    text += durability_text(stats);
    text += blocked_text(stats, now);
    const auto& backlog = rows_of(stats, "backlog");
    if (backlog.empty()) return text;
    text_table table({"DESTINATION", "PENDING", "OLDEST"});
    for (const auto& each : backlog)
        if (const auto* row = each.if_object())
            table.add({to_cell(field(*row, "destination"), 40), count(*row, "pending"),
                       age(*row, "oldestAgeMs")});
    return text + '\n' + table.to_text();
}

std::string inbox_stats_text(const json::object& stats) {
    std::string text = fmt::format("{:<14} {}\n", "remembered", count(stats, "size"));
    for (const auto* name : {"processed", "duplicates"})
        if (stats.contains(name)) text += fmt::format("{:<14} {}\n", name, field(stats, name));
    return text;
}

std::string lanes_text(const json::object& lanes, wall_time now) {
    const auto& rows = rows_of(lanes, "lanes");
    if (rows.empty()) return "none\n";
    text_table table({"DESTINATION", "STATE", "WAITING", "QUEUED", "IN FLIGHT", "WINDOW", "BATCH",
                      "RATE", "SINCE", "UNTIL", "PAUSED", "WHY"});
    for (const auto& each : rows) {
        if (!each.is_object()) continue;
        const auto& row = each.as_object();
        const auto why = row.contains("reason") ? field(row, "reason") : field(row, "cause");
        table.add({to_cell(field(row, "destination"), 24), field(row, "state"),
                   field(row, "waiting"), field(row, "queued"), field(row, "inFlight"),
                   field(row, "window"), field(row, "batch"), rate_of(row),
                   distance(row, "since", now), distance(row, "until", now),
                   distance(row, "pausedSince", now), to_cell(why, any_length)});
    }
    return table.to_text();
}

std::string health_text(const json::object& report) {
    std::string text = fmt::format("{} {}\n", to_cell(field(report, "service"), 255),
                                   to_cell(field(report, "status")));
    text += durability_text(report);
    for (const auto& why : rows_of(report, "reasons"))
        if (why.is_string()) text += "  " + to_cell(std::string(why.as_string()), 400) + '\n';
    return text;
}

}  // namespace posthorn::cli
