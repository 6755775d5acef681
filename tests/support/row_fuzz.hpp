#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.hpp"

namespace posthorn::test {

/// A table as its database describes it.
struct described_table {
    struct column {
        std::string name;
        bool is_number = false;
        bool is_key = false;  // No two rows have the same, or not beside other keys.
    };
    std::string name;
    std::vector<column> columns;
};

/// Rows of every type and extreme, as any program may write them with plain SQL; the same ones for
/// the same seed. What the database takes of them is its affair.
class row_fuzz {
public:
    enum class database : std::uint8_t { sqlite, postgres };

    row_fuzz(std::uint64_t seed, database on) : random_(seed), on_(on) {}

    /// A message to a service, of which one to four columns are anything.
    [[nodiscard]] std::string outbox_row(std::string_view destination, std::string_view endpoint);
    /// What was received under an id.
    [[nodiscard]] std::string inbox_row(std::string_view source, std::string_view id);
    /// A message of a queue.
    [[nodiscard]] std::string queue_row(std::string_view endpoint);

    /// A start or a signal of workflows, or a row of one of their own tables.
    [[nodiscard]] std::string workflow_row(std::string_view workflow, std::string_view signal);

    /// A row as the first one of the table, whichever that is, but for its keys, and for one column
    /// that is anything; without one, up to four are.
    [[nodiscard]] std::string row_like_others(const described_table& of,
                                              std::optional<std::size_t> odd = {});

    /// Makes one column of a row that is there anything, of several without one. Rows for which the
    /// condition does not hold are left alone.
    [[nodiscard]] std::string update(const described_table& of, std::string_view only = "1 = 1",
                                     std::optional<std::size_t> odd = {});

    [[nodiscard]] std::string value();  // Any, as SQL writes it.

private:
    struct column {
        std::string name;
        std::string value;
    };

    [[nodiscard]] std::size_t below(std::size_t bound) { return random_.next() % bound; }
    [[nodiscard]] std::string one_of(const std::vector<std::string>& values) {
        return values[below(values.size())];
    }
    [[nodiscard]] std::string number();
    [[nodiscard]] std::string text();
    [[nodiscard]] std::string bytes();
    /// Replaces some of the columns, and adds others.
    [[nodiscard]] std::string insert(std::string_view table, std::vector<column> columns,
                                     const std::vector<std::string>& any);

    seeded_random random_;
    database on_;
    std::uint64_t made_ = 0;
};

inline std::string row_fuzz::number() {
    return one_of({"0",
                   "1",
                   "-1",
                   "7",
                   "9",
                   "10",
                   "2147483646",
                   "2147483647",
                   "2147483648",
                   "-2147483648",
                   "-2147483649",
                   "4294967295",
                   "4294967296",
                   "1900000000000",
                   "253402300800000",
                   "9223372036854775807",
                   "(-9223372036854775807 - 1)",
                   "4611686018427387904",
                   "1.5",
                   "-0.0",
                   "1e300"});
}

inline std::string row_fuzz::text() {
    const auto repeated = [this](std::size_t times) {
        return fmt::format("'{}'", std::string(times, static_cast<char>('a' + below(26))));
    };
    switch (below(24)) {
        case 0: return repeated(255);
        case 1: return repeated(256);
        case 2: return repeated(1'025);
        case 3: return repeated(5'000);
        case 4: return repeated(70'000);
        case 5: return repeated(1'300'000);
        case 6: return "'{\"a\":'";
        case 7: return "'[1,2]'";
        case 8: return fmt::format("'{0}1{1}'", std::string(3'000, '['), std::string(3'000, ']'));
        case 9:
            return "'\xf0\x9f\x90\xb4 Gr\xc3\xbc\xc3\x9f"
                   "e'";
        case 10: return "'a' || chr(10) || 'b'";
        case 11: return "'018F3B1C-0000-7000-8000-0000000000FF'";
        case 12: return "'018f3b1c00007000800000000000000'";
        case 13: return "'00000000-0000-0000-0000-000000000000'";
        case 14: return one_of({"'Pending'", "'Sent'", "'Dead'", "'pending'", "'Lost'"});
        case 15: return one_of({"'Signal'", "'Command'", "'PushCall'", "'Response'", "'signal'"});
        case 16: return "' '";
        case 17: return "'it''s; DROP TABLE x --'";
        case 18: return "'9223372036854775808'";
        case 19: return "'NaN'";
        default: return one_of({"''", "'x'", "'{}'", "'null'", "'text/plain'"});
    }
}

inline std::string row_fuzz::bytes() {
    const auto hex = one_of({"", "00", "ff", "c328", "7b7d", "0102030405060708090a0b0c0d0e0f10"});
    return on_ == database::sqlite ? fmt::format("x'{}'", hex) : fmt::format("'\\x{}'::bytea", hex);
}

inline std::string row_fuzz::value() {
    auto made = [this] {
        switch (below(8)) {
            case 0: return std::string("NULL");
            case 1: return bytes();
            case 2:
            case 3:
            case 4: return number();
            default: return text();
        }
    }();
    // PostgreSQL says chr where SQLite says char.
    if (const auto at = made.find("chr("); at != std::string::npos && on_ == database::sqlite)
        made.replace(at, 4, "char(");
    return made;
}

inline std::string row_fuzz::insert(std::string_view table, std::vector<column> columns,
                                    const std::vector<std::string>& any) {
    ++made_;
    for (auto count = 1 + below(4); count > 0; --count) {
        const auto name = any[below(any.size())];
        auto with = value();
        // Of one key, the second would wait for the first for good reason.
        if (name == "order_key" || name == "dedupe_key")
            with = fmt::format("{} || '-{}'", with == "NULL" ? "''" : with, made_);
        const auto known =
            std::ranges::find_if(columns, [&](const column& one) { return one.name == name; });
        if (known != columns.end())
            known->value = std::move(with);
        else
            columns.push_back({name, std::move(with)});
    }
    std::vector<std::string_view> names, values;
    for (const auto& one : columns) {
        names.push_back(one.name);
        values.push_back(one.value);
    }
    return fmt::format("INSERT INTO {} ({}) VALUES ({})", table, fmt::join(names, ", "),
                       fmt::join(values, ", "));
}

inline std::string row_fuzz::outbox_row(std::string_view destination, std::string_view endpoint) {
    // A name that is only unknown would wait for its route for good reason.
    const auto to = below(8) == 0 ? one_of({"''", fmt::format("'{}'", std::string(300, 'd')),
                                            "NULL", fmt::format("'{}'", std::string(5'000, 'd'))})
                                  : fmt::format("'{}'", destination);
    return insert(
        "outbox_messages",
        {{"destination", to}, {"endpoint", fmt::format("'{}'", endpoint)}, {"payload", "'{}'"}},
        {"seq",         "message_id",     "correlation_id", "message_type",
         "endpoint",    "payload",        "headers",        "status",
         "retry_count", "max_retries",    "next_retry_at",  "last_error",
         "created_at",  "expires_at",     "sent_at",        "deliver_at",
         "parent_id",   "causation_id",   "tenant",         "order_key",
         "dedupe_key",  "priority",       "content_type",   "resolution",
         "checksum",    "last_attempt_at"});
}

inline std::string row_fuzz::inbox_row(std::string_view source, std::string_view id) {
    return insert("inbox_messages",
                  {{"source_service_id", fmt::format("'{}'", source)},
                   {"message_id", fmt::format("'{}'", id)},
                   {"endpoint", "'Take'"},
                   {"body_hash", bytes()},
                   {"expires_at", "1900000000000"}},
                  {"endpoint", "body_hash", "processed_at", "response_payload", "expires_at",
                   "claim_owner", "claim_until", "response_checksum"});
}

inline std::string row_fuzz::queue_row(std::string_view endpoint) {
    return insert(
        "posthorn_queue",
        {{"message_id", "'018f3b1c-0000-7000-8000-000000000001'"},
         {"source", "'orders'"},
         {"endpoint", fmt::format("'{}'", endpoint)},
         {"message_type", "'Signal'"},
         {"payload", "'{}'"},
         {"content_type", "'application/json'"},
         {"received_at", "0"}},
        {"seq", "message_id", "source", "message_type", "correlation_id", "tenant", "order_key",
         "payload", "content_type", "headers", "received_at", "taken_by", "attempts"});
}

inline std::string row_fuzz::workflow_row(std::string_view workflow, std::string_view signal) {
    const auto named = fmt::format("'{}'", workflow);
    const auto told = fmt::format("'{}'", signal);
    const auto id = fmt::format("'odd-{}'", made_);
    const auto number = fmt::format("{}", 1 + below(20));
    switch (below(8)) {
        case 0:
        case 1:
            return insert("workflow_instances", {{"workflow", named}, {"id", id}},
                          {"uuid", "workflow", "version", "id", "run", "status", "tenant", "parent",
                           "arguments", "started_at", "ended_at", "result", "reason", "trace"});
        case 2:
        case 3:
            return insert("workflow_signals", {{"signal", told}, {"payload", "'{}'"}},
                          {"source", "message_id", "signal", "payload", "workflow", "id",
                           "received_at", "matched_at", "trace"});
        case 4:
            return insert("workflow_mailbox", {{"instance", number}, {"kind", "'elapsed'"}},
                          {"instance", "command", "kind", "payload", "signal", "alone"});
        case 5:
            return insert("workflow_timers",
                          {{"due_at", "0"}, {"instance", number}, {"command", "1"}},
                          {"due_at", "instance", "command"});
        case 6:
            return insert(
                "workflow_waits",
                {{"instance", number},
                 {"command", "1"},
                 {"signal", told},
                 {"shape", "''"},
                 {"key", "''"},
                 {"terms", "'[]'"}},
                {"instance", "command", "signal", "shape", "key", "terms", "exclusive", "taken"});
        default:
            return insert("workflow_unclaimed",
                          {{"signal", told},
                           {"shape", "''"},
                           {"key", "''"},
                           {"seq", number},
                           {"expires_at", "1900000000000"}},
                          {"signal", "shape", "key", "seq", "instance", "expires_at"});
    }
}

inline std::string row_fuzz::row_like_others(const described_table& of,
                                             std::optional<std::size_t> odd) {
    ++made_;
    std::vector<std::string> names, values;
    for (const auto& each : of.columns) {
        const auto made = each.is_number ? fmt::format("{}", 1'000'000 + made_)
                                         : fmt::format("'018f3b1c-0000-7000-b000-{:012x}'", made_);
        names.push_back(each.name);
        values.push_back(each.is_key
                             ? made
                             : fmt::format("CASE WHEN other.one = 1 THEN other.{} ELSE {} END",
                                           each.name, made));
    }
    if (odd)
        values[*odd] = value();
    else
        for (auto count = 2 + below(3); count > 0; --count) values[below(values.size())] = value();
    const std::string_view by_hand = on_ == database::postgres ? " OVERRIDING SYSTEM VALUE" : "";
    return fmt::format(
        "INSERT INTO {0} ({1}){2} SELECT {3} FROM (SELECT 1) AS made"
        " LEFT JOIN (SELECT *, 1 AS one FROM {0} LIMIT 1) AS other ON 1 = 1",
        of.name, fmt::join(names, ", "), by_hand, fmt::join(values, ", "));
}

inline std::string row_fuzz::update(const described_table& of, std::string_view only,
                                    std::optional<std::size_t> odd) {
    // Among the first and among the last ones.
    constexpr std::size_t rows_max = 8;
    std::vector<std::string_view> keys;
    for (const auto& each : of.columns)
        if (each.is_key) keys.push_back(each.name);
    const auto by = fmt::format("{}", fmt::join(keys, ", "));
    std::vector<std::string> changes;
    const auto change = [&](std::size_t at) {
        changes.push_back(fmt::format("{} = {}", of.columns[at].name, value()));
    };
    std::vector<std::size_t> which;
    if (odd) which.push_back(*odd);
    for (auto count = odd ? 0 : 2 + below(3); count > 0; --count)
        if (const auto at = below(of.columns.size()); std::ranges::find(which, at) == which.end())
            which.push_back(at);
    for (const auto at : which) change(at);
    return fmt::format(
        "UPDATE {0} SET {1} WHERE ({2}) IN (SELECT {2} FROM {0} WHERE {3} ORDER BY {4} {5}"
        " LIMIT 1 OFFSET {6})",
        of.name, fmt::join(changes, ", "), by, only, keys.front(), below(2) == 0 ? "ASC" : "DESC",
        below(rows_max));
}

[[nodiscard]] inline std::vector<std::string> split_at(std::string_view text, char mark) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == mark)
            parts.emplace_back();
        else
            parts.back() += c;
    if (parts.back().empty()) parts.pop_back();
    return parts;
}

/// Asks for `table|column|is a number|is a key`, a line each; the condition is on `t.name`.
[[nodiscard]] inline std::string describe_in_file(std::string_view which) {
    return fmt::format(
        "SELECT t.name || '|' || c.name || '|' || (c.type = 'INTEGER') || '|' || (c.pk > 0 OR"
        " EXISTS (SELECT 1 FROM pragma_index_list(t.name) AS l JOIN pragma_index_info(l.name) AS i"
        " WHERE l.\"unique\" AND i.name = c.name)) FROM sqlite_master AS t JOIN"
        " pragma_table_info(t.name) AS c WHERE t.type = 'table' AND {}",
        which);
}
/// The same of a schema; the condition is on `t.relname`.
[[nodiscard]] inline std::string describe_on_server(std::string_view schema,
                                                    std::string_view which) {
    return fmt::format(
        "SELECT concat_ws('|', t.relname, quote_ident(c.attname),"
        " (c.atttypid = 'bigint'::regtype)::int, EXISTS (SELECT 1 FROM pg_index AS i"
        " WHERE i.indrelid = t.oid AND i.indisunique AND c.attnum = ANY (i.indkey))::int)"
        " FROM pg_class AS t JOIN pg_attribute AS c ON c.attrelid = t.oid"
        " WHERE t.relkind = 'r' AND t.relnamespace = '{}'::regnamespace"
        " AND c.attnum > 0 AND NOT c.attisdropped AND c.attgenerated = '' AND {}"
        " ORDER BY t.relname, c.attnum",
        schema, which);
}

[[nodiscard]] inline std::map<std::string, described_table> read_tables(
    const std::vector<std::string>& lines) {
    std::map<std::string, described_table> tables;
    for (const auto& line : lines) {
        const auto parts = split_at(line, '|');
        auto& table = tables[parts.at(0)];
        table.name = parts[0];
        table.columns.push_back({parts.at(1), parts.at(2) == "1", parts.at(3) == "1"});
    }
    return tables;
}

}  // namespace posthorn::test
