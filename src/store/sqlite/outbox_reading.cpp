#include <fmt/format.h>
#include <sqlite3.h>

#include "store/sqlite/outbox_insert.hpp"
#include "store/sqlite/outbox_sql.hpp"
#include "store/sqlite/prepare_all.hpp"

namespace posthorn::sqlite {
namespace {

#define POSTHORN_OUTBOX_COLUMNS                                                             \
    "seq, message_id, message_type, destination, endpoint, payload, content_type, headers," \
    " correlation_id, tenant, order_key, dedupe_key, parent_id, causation_id, priority,"    \
    " max_retries, created_at, expires_at, deliver_at, retry_count"

// Each destination that has pending rows, by one step of the index each, however many rows it has.
// Bytes, which only a writer with its checks switched off can leave there, are no name: as text
// they could be the same as another.
#define POSTHORN_PENDING_DESTINATIONS                                        \
    "WITH RECURSIVE pending(name) AS ("                                      \
    " SELECT min(destination) FROM outbox_messages WHERE status = 'Pending'" \
    " UNION ALL SELECT (SELECT min(destination) FROM outbox_messages"        \
    "  WHERE status = 'Pending' AND destination > pending.name)"             \
    " FROM pending WHERE pending.name IS NOT NULL) "

result<std::optional<uuid>> optional_id(const statement& row, std::size_t column,
                                        std::string_view name) {
    if (row.is_null(column)) return std::nullopt;
    if (auto id = uuid::parse(row.text(column))) return id;
    return fail(error_code::invalid_argument, "{} '{}' is not a UUID", name,
                row.text(column).substr(0, 64));
}

result<outbox_row> read_row(const statement& row, const std::string& source) {
    outbox_row read;
    read.seq = row.integer(0);
    message& body = read.body;
    const auto id = uuid::parse(row.text(1));
    if (!id)
        return fail(error_code::invalid_argument, "message_id '{}' is not a UUID",
                    row.text(1).substr(0, 64));
    body.id = *id;
    const auto type = parse_message_type(row.text(2));
    if (!type)
        return fail(error_code::invalid_argument,
                    "message_type '{}' is not one of Signal, Command, PushCall, Response",
                    row.text(2).substr(0, 64));
    body.type = *type;
    body.source = source;
    body.destination = row.text(3);
    body.endpoint = row.text(4);
    body.payload = row.text(5);
    body.content_type = row.text(6);
    body.headers = row.text(7);
    body.correlation_id = row.text(8);
    body.tenant = row.text(9);
    body.order_key = row.text(10);
    body.dedupe_key = row.text(11);
    auto parent = optional_id(row, 12, "parent_id");
    if (!parent) return std::unexpected(std::move(parent).error());
    body.parent_id = *parent;
    auto causation = optional_id(row, 13, "causation_id");
    if (!causation) return std::unexpected(std::move(causation).error());
    body.causation_id = *causation;
    body.priority = row.get<std::int32_t>(14);
    body.max_retries = row.get<std::int32_t>(15);
    body.created_at = from_ms(row.integer(16));
    body.expires_at = from_ms(row.integer(17));
    if (!row.is_null(18)) body.deliver_at = from_ms(row.integer(18));
    read.attempts = row.get<std::int32_t>(19);
    return read;
}

// Enough to tell people of a row that is no message.
outbox_row read_what_can_be(const statement& row, const std::string& source) {
    outbox_row read;
    read.seq = row.integer(0);
    read.body.source = source;
    read.body.id = uuid::parse(row.text(1)).value_or(uuid{});
    read.body.destination = row.text(3);
    read.body.endpoint = row.text(4);
    read.body.payload = row.text(5);
    read.body.content_type = row.text(6);
    read.attempts = row.get<std::int32_t>(19);
    return read;
}

}  // namespace

result<outbox_reading> outbox_reading::open(connection& database, std::string source,
                                            const message_limits& limits) {
    outbox_reading reading;
    reading.source_ = std::move(source);
    reading.limits_ = limits;
    POSTHORN_TRY(prepare_all(
        database,
        {{&reading.destinations_, POSTHORN_PENDING_DESTINATIONS
          "SELECT name FROM pending WHERE typeof(name) = 'text' AND EXISTS (SELECT 1 FROM"
          " outbox_messages WHERE status = 'Pending' AND destination = name"
          " AND next_retry_at <= ?)"},
         {&reading.due_, "SELECT " POSTHORN_OUTBOX_COLUMNS
                         " FROM outbox_messages WHERE status = 'Pending' AND destination = ?1"
                         " AND next_retry_at <= ?2 ORDER BY next_retry_at, seq LIMIT ?3"},
         {&reading.next_due_, POSTHORN_PENDING_DESTINATIONS
          "SELECT min((SELECT min(next_retry_at) FROM outbox_messages WHERE status = 'Pending'"
          " AND destination = name)) FROM pending WHERE typeof(name) = 'text'"},
         {&reading.find_,
          "SELECT " POSTHORN_OUTBOX_COLUMNS " FROM outbox_messages WHERE message_id = ?"},
         {&reading.status_, "SELECT status FROM outbox_messages WHERE message_id = ?"},
         {&reading.counts_, "SELECT status, count(*) FROM outbox_messages GROUP BY status"},
         {&reading.ended_, "SELECT " POSTHORN_OUTBOX_COLUMNS
                           ", status, last_error FROM outbox_ended CROSS JOIN outbox_messages"
                           " USING (seq) WHERE outbox_ended.seq > ? ORDER BY outbox_ended.seq"
                           " LIMIT ?"}}));
    return reading;
}

result<std::vector<std::string>> outbox_reading::due_destinations(wall_time now) {
    const reset_at_end reset(destinations_);
    destinations_.bind(1, to_ms(now));
    std::vector<std::string> names;
    for (;;) {
        auto row = destinations_.step();
        if (!row) return std::unexpected(std::move(row).error());
        if (!*row) return names;
        names.emplace_back(destinations_.text(0));
    }
}

result<outbox_page> outbox_reading::due(std::string_view destination, wall_time now,
                                        std::size_t limit) {
    const reset_at_end reset(due_);
    due_.bind(1, destination);
    due_.bind(2, to_ms(now));
    due_.bind(3, static_cast<std::int64_t>(limit));
    outbox_page page;
    for (;;) {
        auto more = due_.step();
        if (!more) return std::unexpected(std::move(more).error());
        if (!*more) return page;
        auto row = read_row(due_, source_);
        if (row)
            if (auto fit = validate(row->body, limits_); !fit) row = std::unexpected(fit.error());
        if (row)
            page.rows.push_back(*std::move(row));
        else
            page.bad.push_back(
                {due_.integer(0), fmt::format("{}: {}", row.error().name(), row.error().what())});
    }
}

result<std::optional<wall_time>> outbox_reading::next_due() {
    const reset_at_end reset(next_due_);
    auto row = next_due_.step();
    if (!row) return std::unexpected(std::move(row).error());
    if (!*row || next_due_.is_null(0)) return std::nullopt;
    return from_ms(next_due_.integer(0));
}

result<std::optional<outbox_row>> outbox_reading::find(const uuid& id) {
    const reset_at_end reset(find_);
    find_.bind(1, id);
    auto row = find_.step();
    if (!row) return std::unexpected(std::move(row).error());
    if (!*row) return std::nullopt;
    return read_row(find_, source_);
}

result<std::optional<outbox_status>> outbox_reading::status(const uuid& id) {
    const reset_at_end reset(status_);
    status_.bind(1, id);
    auto row = status_.step();
    if (!row) return std::unexpected(std::move(row).error());
    if (!*row) return std::nullopt;
    return parse_outbox_status(status_.text(0));
}

result<outbox_counts> outbox_reading::counts() {
    const reset_at_end reset(counts_);
    outbox_counts counts;
    for (;;) {
        auto row = counts_.step();
        if (!row) return std::unexpected(std::move(row).error());
        if (!*row) return counts;
        const std::int64_t number = counts_.integer(1);
        switch (parse_outbox_status(counts_.text(0)).value_or(outbox_status::pending)) {
            case outbox_status::pending: counts.pending = number; break;
            case outbox_status::sent: counts.sent = number; break;
            case outbox_status::dead: counts.dead = number; break;
            case outbox_status::expired: counts.expired = number; break;
            case outbox_status::resolved: counts.resolved = number; break;
        }
    }
}

result<std::vector<ended_row>> outbox_reading::ended(std::int64_t after_seq, std::size_t limit) {
    const reset_at_end reset(ended_);
    ended_.bind(1, after_seq);
    ended_.bind(2, static_cast<std::int64_t>(limit));
    std::vector<ended_row> rows;
    for (;;) {
        auto more = ended_.step();
        if (!more) return std::unexpected(std::move(more).error());
        if (!*more) return rows;
        auto row = read_row(ended_, source_);
        rows.push_back(
            {.row = row ? *std::move(row) : read_what_can_be(ended_, source_),
             .status = parse_outbox_status(ended_.text(20)).value_or(outbox_status::dead),
             .error = std::string(ended_.text(21))});
    }
}

}  // namespace posthorn::sqlite
