#pragma once

#include "store/rules/dead_letter_rules.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/change_log.hpp"
#include "store/sqlite/tables/closed_messages.hpp"
#include "store/sqlite/tables/order_keys.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"

namespace posthorn::sqlite {

/// The messages that were given up, inside a write transaction.
///
/// Lifetime: as its connection, and that of its neighbours.
/// Threads:  the writer's.
class dead_letters_sql final : public dead_letter_rules {
public:
    /// What the transaction has beside it.
    struct neighbours {
        change_log& changes;
        closed_messages& closed;
        outbox_sql& outbox;
    };
    dead_letters_sql(connection& database, const message_limits& limits, const neighbours& others);

    result<std::int64_t> group_some(std::size_t limit) override {
        return closed_.group_some(limit);
    }

private:
    result<bool> visit_by_id(const uuid& id, const row_visitor& visit) override;
    result<bool> visit_by_seq(std::int64_t seq, const row_visitor& visit) override;
    result<bool> visit_keys(std::int64_t seq, const row_visitor& visit) override;
    result<bool> visit_whole(std::int64_t seq, const row_visitor& visit) override;
    result<> make_pending(std::int64_t seq) override;
    result<> place(std::int64_t seq) override;
    result<> give_new_id(std::int64_t seq, wall_time now) override;
    result<> make_resolved(std::int64_t seq, std::string_view resolution) override;
    result<> erase(std::int64_t seq) override;
    result<bool> make_expired(std::int64_t seq, wall_time now) override;
    result<> write(std::int64_t seq, const message& body) override;
    result<> set_checksum(std::int64_t seq, std::int64_t sum) override;
    result<> record_closed(std::int64_t seq, outbox_status status, wall_time at) override;
    result<> release_next(const order_scope& of) override;
    result<> log(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at) override;

    change_log& changes_;
    closed_messages& closed_;
    outbox_sql& outbox_;
    order_keys order_;
    statement by_id_;
    statement by_seq_;
    statement keys_;
    statement requeue_;
    statement renew_;
    statement note_;
    statement resolve_;
    statement remove_;
    statement expire_;
    statement ended_;
    statement edit_;
    statement whole_;
    statement reseal_;
};

}  // namespace posthorn::sqlite
