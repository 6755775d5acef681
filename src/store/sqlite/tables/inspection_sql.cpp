#include "store/sqlite/tables/inspection_sql.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/rows/stored_time.hpp"
#include "store/rows/summary_rows.hpp"
#include "store/rows/text_search.hpp"
#include "store/rules/inspection_looks.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/flow_walk.hpp"
#include "store/statements/sqlite_parts.hpp"
#include "store/statements/sqlite_states.hpp"

namespace posthorn::sqlite {
namespace {

// Up to so many pending rows, their index is read in whole: they may be anywhere in the table.
constexpr std::int64_t pending_sorted_max = 50'000;

bool is_wanted(const sql_row& row, const message_filter& wanted) {
    if (wanted.status && row.text(5) != to_string(*wanted.status)) return false;
    if (!wanted.destination.empty() && row.text(3) != wanted.destination) return false;
    if (!wanted.endpoint.empty() && row.text(4) != wanted.endpoint) return false;
    if (!wanted.correlation_id.empty() && row.text(16) != wanted.correlation_id) return false;
    if (!wanted.tenant.empty() && row.text(17) != wanted.tenant) return false;
    if (!wanted.order_key.empty() && row.text(18) != wanted.order_key) return false;
    if (!wanted.causation_id.empty() && row.text(19) != wanted.causation_id) return false;
    if (!contains_whatever_the_case(row.text(14), wanted.error)) return false;
    const auto created_at = from_ms(row.integer(8));
    if (wanted.since && created_at < *wanted.since) return false;
    return !wanted.until || created_at < *wanted.until;
}

constexpr auto count_due_in_flow = joined("SELECT count(*), min(seq) FROM (SELECT seq", in_flow,
                                          "AND next_retry_at <= ?4 LIMIT ?5)");
constexpr auto count_waiting_in_flow =
    joined("SELECT count(*) FROM (SELECT 1", in_flow, "AND next_retry_at > ?4 LIMIT ?5)");
constexpr auto backlog_columns =
    joined("SELECT created_at, deliver_at, retry_count, substr(last_error, 1, 4096)");
constexpr auto look_at_due =
    joined(backlog_columns, in_flow, "AND next_retry_at <= ?4 ORDER BY next_retry_at LIMIT ?5");
constexpr auto look_at_waiting =
    joined(backlog_columns, in_flow, "AND next_retry_at > ?4 ORDER BY next_retry_at LIMIT ?5");

constexpr auto list_all =
    joined("SELECT ", summary_columns, " FROM outbox_messages WHERE seq < ?1 ORDER BY seq DESC");
constexpr auto list_closed =
    joined("SELECT ", summary_columns, " FROM outbox_messages WHERE seq < ?1 AND status = ?2 AND ",
           is_closed("status"), " ORDER BY seq DESC");
constexpr auto summary_by_seq =
    joined("SELECT ", summary_columns, " FROM outbox_messages WHERE seq = ?");

class inspection final : public inspection_looks<driver, flow_walk> {
public:
    explicit inspection(connection& database) : inspection_looks(database), database_(database) {}

    using inspection_looks::list;
    result<inbox_list> list(const inbox_filter& wanted) override {
        POSTHORN_LET(found, inbox_list_.run(top(wanted.before_seq)));
        inbox_list page;
        const auto limit = std::min(wanted.limit, list_rows_max);
        std::int64_t last = 0;
        for (std::int64_t looked_at = 0;; ++looked_at) {
            POSTHORN_LET(row, found.next());
            if (row == nullptr) return page;
            if (page.rows.size() >= limit || looked_at >= rows_per_page_max) break;
            last = row->integer(0);
            auto one = read_inbox_summary(*row);
            if (fits(one, wanted)) page.rows.push_back(std::move(one));
        }
        page.next = last;
        return page;
    }

private:
    result<message_list> list_down(const message_filter& wanted) override {
        const auto from = top(wanted.before_seq);
        if (wanted.status == outbox_status::pending) return list_pending(wanted);
        const bool is_open = !wanted.status || *wanted.status == outbox_status::sent;
        POSTHORN_LET(found,
                     is_open ? all_.run(from) : closed_.run(from, to_string(*wanted.status)));
        return walk(std::move(found), wanted);
    }

    /// A page under way.
    struct search {
        const message_filter& wanted;
        std::int64_t looked_at = 0;
        std::int64_t last = 0;
        message_list page{};

        [[nodiscard]] bool full() const {
            return page.rows.size() >= std::min(wanted.limit, list_rows_max) ||
                   looked_at >= rows_per_page_max;
        }
        void take(const sql_row& row) {
            ++looked_at;
            last = row.integer(0);
            if (is_wanted(row, wanted)) page.rows.push_back(read_summary(row));
        }
    };

    static result<message_list> walk(rows from, const message_filter& wanted) {
        search found{.wanted = wanted};
        for (;;) {
            POSTHORN_LET(row, from.next());
            if (row == nullptr) return std::move(found.page);
            if (found.full()) break;  // And there is one more row.
            found.take(*row);
        }
        found.page.next = found.last;
        return std::move(found.page);
    }

    result<message_list> list_pending(const message_filter& wanted) {
        POSTHORN_LET(seqs, pending_seqs(wanted.destination));
        if (std::ssize(seqs) > pending_sorted_max) {
            POSTHORN_LET(all, all_.run(top(wanted.before_seq)));
            return walk(std::move(all), wanted);
        }
        std::ranges::sort(seqs, std::greater{});
        search found{.wanted = wanted};
        for (const auto seq : seqs) {
            if (seq >= top(wanted.before_seq)) continue;
            if (found.full()) {
                found.page.next = found.last;
                break;
            }
            POSTHORN_LET(row, one_.run(seq));
            if (!row.empty()) found.take(row.front());
        }
        return std::move(found.page);
    }

    result<std::vector<std::int64_t>> pending_seqs(std::string_view destination) {
        constexpr auto limit = pending_sorted_max + 1;
        std::vector<std::int64_t> seqs;
        POSTHORN_LET(
            found, destination.empty() ? pending_.run(limit) : pending_of_.run(destination, limit));
        POSTHORN_TRY(found.each([&](const sql_row& row) { seqs.push_back(row.integer(0)); }));
        return seqs;
    }

    // What waits in the outbox, by destination.

    /// What is known of a destination after some of its flows.
    struct backlog_count {
        wall_time now;
        std::int64_t counted = 0;
        std::int64_t due_rows_left = 0;
        std::int64_t waiting_rows_left = 0;
        std::optional<std::int64_t> first_due{};  // The lowest seq.
    };

    result<> look_at(destination_backlog& into, wall_time now,
                     const backlog_limits& limits) override {
        backlog_count so_far{
            .now = now, .due_rows_left = limits.rows_max, .waiting_rows_left = limits.rows_max};
        result<> outcome;
        std::optional<flow> rest;
        POSTHORN_TRY(flows().go_round(into.destination, rest, [&](const flow& one) {
            outcome = add_flow(into, so_far, one, limits);
            const bool on = outcome && so_far.counted <= limits.count_max;
            return on ? flow_step::on : flow_step::stop;
        }));
        POSTHORN_TRY(outcome);
        into.pending = up_to(so_far.counted, limits.count_max);
        if (rest) into.pending.at_least = true;
        const bool all_seen = so_far.due_rows_left > 0 && so_far.waiting_rows_left > 0 && !rest;
        if (!all_seen && into.undeliverable.value > 0) into.undeliverable.at_least = true;
        if (so_far.first_due) {
            POSTHORN_LET(row, since_.run(*so_far.first_due));
            note_first_due(into, row.front());
        }
        return {};
    }

    result<> add_flow(destination_backlog& into, backlog_count& so_far, const flow& of,
                      const backlog_limits& limits) {
        const auto ask = [&, now = to_ms(so_far.now)](statement& query, std::int64_t rows_max) {
            return query.run(of.destination, of.tenant, of.priority, now, rows_max);
        };
        {
            POSTHORN_LET(counted, ask(due_count_, limits.count_max + 1));
            const auto& row = counted.front();
            so_far.counted += row.integer(0);
            if (!row.is_null(1))
                so_far.first_due =
                    std::min(so_far.first_due.value_or(row.integer(1)), row.integer(1));
        }
        {
            POSTHORN_LET(counted, ask(waiting_count_, limits.count_max + 1));
            so_far.counted += counted.front().integer(0);
        }
        POSTHORN_LET(due, ask(due_rows_, so_far.due_rows_left));
        POSTHORN_TRY(look_at_rows(into, due, so_far.now, so_far.due_rows_left));
        POSTHORN_LET(waiting, ask(waiting_rows_, so_far.waiting_rows_left));
        return look_at_rows(into, waiting, so_far.now, so_far.waiting_rows_left);
    }

    // Which of the rows waits only for its own time, and which cannot go anywhere, stands in no index.
    static result<> look_at_rows(destination_backlog& into, rows& flow_rows, wall_time now,
                                 std::int64_t& rows_left) {
        return flow_rows.each([&](const sql_row& row) {
            --rows_left;
            const auto since = from_ms(std::max(row.integer(0), row.integer(1)));
            note_waiting(into, since, row.text(3), now);
        });
    }

    connection& database_;
    statement due_count_{database_, count_due_in_flow};
    statement waiting_count_{database_, count_waiting_in_flow};
    statement due_rows_{database_, look_at_due};
    statement waiting_rows_{database_, look_at_waiting};
    statement since_{database_, R"sql(
        SELECT max(created_at, coalesce(deliver_at, 0)) FROM outbox_messages WHERE seq = ?)sql"};
    statement all_{database_, list_all};
    statement closed_{database_, list_closed};
    // An index of pending rows is searched with `destination >= ''`, which they all fulfil.
    statement pending_{database_, R"sql(
        SELECT seq FROM outbox_messages
        WHERE status = 'Pending' AND destination >= '' LIMIT ?)sql"};
    statement pending_of_{database_, R"sql(
        SELECT seq FROM outbox_messages
        WHERE status = 'Pending' AND destination = ? LIMIT ?)sql"};
    statement one_{database_, summary_by_seq};
    statement inbox_list_{database_, R"sql(
        SELECT seq, substr(source_service_id, 1, 4096), substr(message_id, 1, 4096),
            substr(endpoint, 1, 4096), processed_at, claim_until, expires_at
        FROM inbox_messages WHERE seq < ?1 ORDER BY seq DESC)sql"};
};

}  // namespace

std::unique_ptr<store_inspector> inspection_on(connection& database) {
    return std::make_unique<inspection>(database);
}

}  // namespace posthorn::sqlite
