#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/outbox_table.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rows/row_sizes.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rules/due_choice.hpp"
#include "store/statements/outbox_looks_sql.hpp"

namespace posthorn {

/// What a reading connection is asked of the outbox and every store answers alike; `Flows` is how
/// it goes from flow to flow, and `Due` its `due_choice`.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
template <class Driver, class Flows, class Due>
class outbox_looks : public outbox_reader {
public:
    outbox_looks(typename Driver::connection& database, outbox_rules rules,
                 const outbox_looks_sql& texts = outbox_looks_texts)
        : rules_(std::move(rules)),
          flows_(database),
          outlook_(flows_),
          due_(database, flows_),
          policy_(database, texts.policy),
          find_(database, texts.by_id),
          status_(database, texts.status_by_id),
          counts_(database, texts.counts),
          paused_(database, texts.paused),
          ended_(database, texts.ended) {}

    result<std::vector<std::string>> due_destinations(wall_time now) override {
        return outlook_.destinations(now);
    }
    result<outbox_page> due(const due_question& asked) override {
        POSTHORN_LET(chosen, due_.choose(asked));
        return read_page(chosen, asked.bytes_max);
    }
    result<std::optional<wall_time>> next_due() override { return outlook_.next(); }
    result<order_policy> present_order_policy() override {
        POSTHORN_LET(found, policy_.run());
        if (found.empty()) return order_policy::park;
        return parse_order_policy(found.front().text(0)).value_or(order_policy::park);
    }
    result<std::optional<outbox_row>> find(const uuid& id) override {
        POSTHORN_LET(found, find_.run(id));
        if (found.empty()) return std::nullopt;
        return read_row(found.front(), rules_.source);
    }
    result<std::optional<outbox_status>> status(const uuid& id) override {
        POSTHORN_LET(found, status_.run(id));
        if (found.empty()) return std::nullopt;
        return parse_outbox_status(found.front().text(0));
    }
    result<outbox_counts> counts() override;
    result<std::vector<paused_destination>> paused() override;
    result<std::vector<final_row>> ended(std::int64_t after_seq, std::size_t limit) override;

protected:
    /// Of messages on a page of those that were given up, but for the last one.
    static constexpr std::size_t ended_bytes_max = std::size_t{8} << 20;

    [[nodiscard]] const outbox_rules& message_rules() const noexcept { return rules_; }
    /// A row that has expired, whatever is in it, of `outbox_late_columns`.
    [[nodiscard]] outbox_row read_late(const sql_row& from) const {
        auto read = read_row(from, rules_.source);
        return read ? *std::move(read) : read_what_can_be(from, rules_.source);
    }

private:
    /// In the order chosen, as far as `bytes_max` goes.
    virtual result<outbox_page> read_page(const chosen_rows& chosen, std::size_t bytes_max) = 0;

    outbox_rules rules_;
    Flows flows_;
    due_outlook outlook_;
    Due due_;
    typename Driver::statement policy_;
    typename Driver::statement find_;
    typename Driver::statement status_;
    typename Driver::statement counts_;
    typename Driver::statement paused_;
    typename Driver::statement ended_;
};

template <class Driver, class Flows, class Due>
result<outbox_counts> outbox_looks<Driver, Flows, Due>::counts() {
    outbox_counts counts;
    POSTHORN_LET(found, counts_.run());
    POSTHORN_TRY(found.each([&](const sql_row& row) {
        const std::int64_t number = row.integer(1);
        switch (parse_outbox_status(row.text(0)).value_or(outbox_status::pending)) {
            case outbox_status::pending: counts.pending = number; break;
            case outbox_status::sent: counts.sent = number; break;
            case outbox_status::dead: counts.dead = number; break;
            case outbox_status::expired: counts.expired = number; break;
            case outbox_status::resolved: counts.resolved = number; break;
        }
    }));
    return counts;
}

template <class Driver, class Flows, class Due>
result<std::vector<paused_destination>> outbox_looks<Driver, Flows, Due>::paused() {
    std::vector<paused_destination> all;
    POSTHORN_LET(found, paused_.run());
    POSTHORN_TRY(found.each([&](const sql_row& row) {
        all.push_back({.destination = std::string(row.text(0)),
                       .since = from_ms(row.integer(1)),
                       .reason = std::string(row.text(2))});
    }));
    return all;
}

template <class Driver, class Flows, class Due>
result<std::vector<final_row>> outbox_looks<Driver, Flows, Due>::ended(std::int64_t after_seq,
                                                                       std::size_t limit) {
    std::vector<final_row> all;
    std::size_t bytes = 0;
    POSTHORN_LET(found, ended_.run(after_seq, static_cast<std::int64_t>(limit),
                                   row_bytes_max(rules_.limits)));
    while (bytes < ended_bytes_max) {
        POSTHORN_LET(next, found.next());
        if (next == nullptr) break;
        const sql_row& from = *next;
        auto row = read_row(from, rules_.source);
        all.push_back(
            {.row = row ? *std::move(row) : read_what_can_be(from, rules_.source),
             .status =
                 parse_outbox_status(from.text(outbox_columns_count)).value_or(outbox_status::dead),
             .error = std::string(from.text(outbox_columns_count + 1)),
             .may_have_taken_effect = from.integer(outbox_columns_count + 2) != 0});
        bytes += bytes_of(all.back().row);
    }
    return all;
}

}  // namespace posthorn
