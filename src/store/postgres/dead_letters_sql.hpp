#pragma once

#include "message/validate.hpp"
#include "store/dead_letters.hpp"
#include "store/postgres/closed_log.hpp"
#include "store/postgres/connection.hpp"
#include "store/postgres/outbox_sql.hpp"

namespace posthorn::postgres {

/// The messages that were given up, inside a write transaction.
///
/// Lifetime: as its connection, and that of its neighbours.
/// Threads:  the writer's.
class dead_letters_sql final : public dead_letter_table {
public:
    /// What the transaction has beside it.
    struct neighbours {
        change_log& changes;
        closed_log& closed;
        outbox_sql& outbox;
    };

    dead_letters_sql(connection& database, const message_limits& limits, const neighbours& others);

    result<dead_changed> change(const uuid& id, const dead_change& how, wall_time now) override;
    result<dead_changed> edit(const uuid& id, const message_edit& how, std::string_view if_state,
                              wall_time now) override;
    result<dead_many> change_many(std::span<const std::int64_t> seqs, const dead_filter& still,
                                  const dead_change& how, wall_time now) override;
    result<std::int64_t> expire(std::span<const std::int64_t> seqs, wall_time now) override;
    result<std::int64_t> group_some(std::size_t limit) override {
        return with_.closed.group_some(limit);
    }

private:
    /// What is to be known of a row to change it.
    struct target {
        std::int64_t seq = 0;
        order_scope scope{};
        wall_time expires_at{};
    };
    /// Whether a row is what was stored; rows of plain SQL cannot tell.
    enum class seal : std::uint8_t { none, fits, broken };

    result<dead_letter_row> find(const uuid& id, std::string_view if_state);
    result<dead_changed> present(std::int64_t seq);
    result<> apply(const target& what, const dead_change& how, wall_time now);
    result<> requeue(const target& what, bool new_id, wall_time now);
    result<> renew(std::int64_t seq, wall_time now);
    result<> resolve(const target& what, std::string_view resolution, wall_time now);
    result<> remove(const target& what);
    result<> let_go(const order_scope& of);
    result<seal> seal_of(std::int64_t seq);
    /// After a change that was meant.
    result<> reseal(std::int64_t seq, seal before);
    result<message> edited(std::int64_t seq, const message_edit& how);
    result<> write(std::int64_t seq, const message& body);

    message_limits limits_;
    neighbours with_;
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

}  // namespace posthorn::postgres
