#include "store/postgres/tables/inspection_sql.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/flows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rows/summary_rows.hpp"
#include "store/rules/inspection_looks.hpp"

namespace posthorn::postgres {
namespace {

// The server filters, so that a search does not carry every row here. The rows looked at are
// limited before that; the highest and the lowest of them, and their number, come with every row.
template <class Text>
consteval auto search_among(const Text& looked) {
    return joined("WITH looked AS MATERIALIZED (", looked, R"sql( ORDER BY seq DESC LIMIT $2),
    ends AS (SELECT count(*) AS looked_at, min(seq) AS lowest FROM looked)
    SELECT )sql",
                  summary_columns, R"sql(, looked_at, lowest
    FROM ends LEFT JOIN (
        SELECT m.* FROM looked JOIN {s}.outbox_messages AS m USING (seq)
        WHERE ($3::text IS NULL OR status = $3::text)
          AND ($4::text = '' OR destination = $4::text)
          AND ($5::text = '' OR endpoint = $5::text)
          AND ($6::bigint IS NULL OR created_at >= $6::bigint)
          AND ($13::bigint IS NULL OR created_at < $13::bigint)
          AND ($8::text = '' OR correlation_id = $8::text)
          AND ($9::text = '' OR tenant = $9::text)
          AND ($10::text = '' OR order_key = $10::text)
          AND ($11::text = '' OR causation_id = $11::text)
          AND ($12::text = ''
               OR position(lower($12::text) IN lower(substr(last_error, 1, 4096))) > 0)
        ORDER BY seq DESC LIMIT $7) AS found ON true
    ORDER BY seq DESC)sql");
}
constexpr auto search_all = search_among("SELECT seq FROM {s}.outbox_messages WHERE seq < $1");
constexpr auto search_pending = search_among(R"sql(
    SELECT seq FROM {s}.outbox_pending
    WHERE seq < $1 AND ($4::text = '' OR destination = $4::text))sql");
constexpr auto search_closed =
    search_among("SELECT seq FROM {s}.outbox_closed WHERE seq < $1 AND status = $3::text");

template <class Text>
consteval auto of_destination_when(const Text& compare) {
    return joined(R"sql(
    SELECT m.created_at, m.deliver_at, substr(m.last_error, 1, 4096)
    FROM (SELECT seq, next_retry_at FROM {s}.outbox_pending
          WHERE destination = $1 AND next_retry_at )sql",
                  compare, R"sql( $2
          ORDER BY tenant, priority, next_retry_at, seq LIMIT $3) AS due
        JOIN {s}.outbox_messages AS m USING (seq)
    ORDER BY due.next_retry_at, m.seq)sql");
}
constexpr auto look_at_due = of_destination_when("<=");
constexpr auto look_at_waiting = of_destination_when(">");

constexpr std::size_t inbox_columns_count = 7;  // Of what the inbox's list shows of a row.

class inspection final : public inspection_looks<driver, flow_walk> {
public:
    explicit inspection(connection& database) : inspection_looks(database), database_(database) {}

    using inspection_looks::list;

    result<inbox_list> list(const inbox_filter& wanted) override {
        const auto limit = std::min(wanted.limit, list_rows_max);
        const auto rows = static_cast<std::int64_t>(limit + 1);
        // Where all rows fit, no more are looked at than are shown.
        const bool is_narrowed = !wanted.source.empty() || !wanted.endpoint.empty() ||
                                 wanted.processed.has_value() || wanted.since.has_value() ||
                                 wanted.until.has_value();
        const auto looked_max = is_narrowed ? rows_per_page_max : rows;
        std::optional<std::int64_t> processed, since, until;
        if (wanted.processed) processed = *wanted.processed ? 1 : 0;
        if (wanted.since) since = to_ms(*wanted.since);
        if (wanted.until) until = to_ms(*wanted.until);
        POSTHORN_LET(found, inbox_list_.run(top(wanted.before_seq), looked_max, wanted.source, rows,
                                            wanted.endpoint, processed, since, until));
        inbox_list page;
        for (int i = 0; i < found.size(); ++i) {
            const auto row = found[i];
            if (row.is_null(0)) continue;  // Nothing was found among those looked at.
            if (page.rows.size() == limit) {
                page.next = page.rows.empty() ? 0 : page.rows.back().seq;
                return page;
            }
            page.rows.push_back(read_inbox_summary(row));
        }
        if (!found.empty() && found.front().integer(inbox_columns_count) == looked_max)
            page.next = found.front().integer(inbox_columns_count + 1);
        return page;
    }

private:
    result<message_list> list_down(const message_filter& wanted) override {
        const auto limit = std::min(wanted.limit, list_rows_max);
        const bool walks_all = !wanted.status || *wanted.status == outbox_status::sent;
        auto& search = walks_all                                  ? all_
                       : *wanted.status == outbox_status::pending ? pending_
                                                                  : closed_;
        std::optional<std::string_view> status;
        if (wanted.status) status = to_string(*wanted.status);
        std::optional<std::int64_t> since, until;
        if (wanted.since) since = to_ms(*wanted.since);
        if (wanted.until) until = to_ms(*wanted.until);
        POSTHORN_LET(
            found, search.run(top(wanted.before_seq), rows_per_page_max, status, wanted.destination,
                              wanted.endpoint, since, static_cast<std::int64_t>(limit + 1),
                              wanted.correlation_id, wanted.tenant, wanted.order_key,
                              wanted.causation_id, wanted.error, until));
        message_list page;
        for (int i = 0; i < found.size(); ++i) {
            const auto row = found[i];
            if (row.is_null(0)) continue;  // Nothing was found among those looked at.
            if (page.rows.size() == limit) {
                page.next = page.rows.empty() ? 0 : page.rows.back().seq;
                return page;
            }
            page.rows.push_back(read_summary(row));
        }
        if (!found.empty() && found.front().integer(summary_columns_count) == rows_per_page_max)
            page.next = found.front().integer(summary_columns_count + 1);
        return page;
    }

    result<> look_at(destination_backlog& into, wall_time now,
                     const backlog_limits& limits) override {
        POSTHORN_LET(counted, due_count_.run(into.destination, limits.count_max + 1));
        into.pending = up_to(counted.front().integer(0), limits.count_max);
        POSTHORN_LET(all_due, look_at_rows(into, due_rows_, now, limits.rows_max));
        POSTHORN_LET(all_waiting, look_at_rows(into, waiting_rows_, now, limits.rows_max));
        if (!(all_due && all_waiting) && into.undeliverable.value > 0)
            into.undeliverable.at_least = true;
        POSTHORN_LET(first, first_due_.run(into.destination, to_ms(now), limits.count_max + 1));
        if (!first.empty()) note_first_due(into, first.front());
        return {};
    }

    // Which of the rows waits only for its own time, and which cannot go anywhere, stands in no index.
    // Gives whether these were all.
    static result<bool> look_at_rows(destination_backlog& into, statement& rows_of, wall_time now,
                                     std::int64_t rows_max) {
        POSTHORN_LET(found, rows_of.run(into.destination, to_ms(now), rows_max));
        for (int i = 0; i < found.size(); ++i) {
            const auto row = found[i];
            const auto since = from_ms(std::max(row.integer(0), row.integer(1)));
            note_waiting(into, since, row.text(2), now);
        }
        return found.size() < rows_max;
    }

    connection& database_;
    statement due_count_{database_, R"sql(
        SELECT count(*)
        FROM (SELECT 1 FROM {s}.outbox_pending WHERE destination = $1 LIMIT $2) AS part)sql"};
    statement first_due_{database_, R"sql(
        SELECT greatest(created_at, deliver_at) FROM {s}.outbox_messages
        WHERE seq = (SELECT min(seq) FROM (SELECT seq FROM {s}.outbox_pending WHERE
            destination = $1 AND next_retry_at <= $2 LIMIT $3) AS part))sql"};
    statement due_rows_{database_, look_at_due};
    statement waiting_rows_{database_, look_at_waiting};
    statement all_{database_, search_all};
    statement pending_{database_, search_pending};
    statement closed_{database_, search_closed};
    statement inbox_list_{database_, R"sql(
        WITH looked AS MATERIALIZED (SELECT seq FROM {s}.inbox_messages WHERE seq < $1
            ORDER BY seq DESC LIMIT $2),
        ends AS (SELECT count(*) AS looked_at, min(seq) AS lowest FROM looked)
        SELECT seq, substr(source_service_id, 1, 4096), substr(message_id, 1, 4096),
            substr(endpoint, 1, 4096), processed_at, claim_until, expires_at, looked_at, lowest
        FROM ends LEFT JOIN (
            SELECT m.* FROM looked JOIN {s}.inbox_messages AS m USING (seq)
            WHERE ($3::text = '' OR source_service_id = $3::text)
              AND ($5::text = '' OR endpoint = $5::text)
              AND ($6::bigint IS NULL OR (processed_at IS NOT NULL) = ($6::bigint <> 0))
              AND ($7::bigint IS NULL OR processed_at >= $7::bigint)
              AND ($8::bigint IS NULL OR processed_at < $8::bigint)
            ORDER BY seq DESC LIMIT $4) AS found ON true
        ORDER BY seq DESC)sql"};
};

}  // namespace

std::unique_ptr<store_inspector> inspection_on(connection& database) {
    return std::make_unique<inspection>(database);
}

}  // namespace posthorn::postgres
