#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <posthorn/detail/sql.hpp>

#include "message/validate.hpp"
#include "store/dead_letters.hpp"

namespace posthorn {

/// What may be done to a message that was given up, and what has to be done along with it,
/// whichever database it is in. A store says how its rows are read and written.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class dead_letter_rules : public dead_letter_table {
public:
    result<dead_changed> change(const uuid& id, const dead_change& how, wall_time now) final;
    result<dead_changed> edit(const uuid& id, const message_edit& how, std::string_view if_state,
                              wall_time now) final;
    result<dead_many> change_many(std::span<const std::int64_t> seqs, const dead_filter& still,
                                  const dead_change& how, wall_time now) final;
    result<std::int64_t> expire(std::span<const std::int64_t> seqs, wall_time now) final;

protected:
    using row_visitor = std::function<void(const sql_row&)>;

    dead_letter_rules() = default;
    explicit dead_letter_rules(const message_limits& limits) : limits_(limits) {}

    // Each of these calls `visit` for the row, if it is there, and says whether it is. No other
    // changes the row before the transaction ends.
    virtual result<bool> visit_by_id(const uuid& id, const row_visitor& visit) = 0;  // A dead row.
    virtual result<bool> visit_by_seq(std::int64_t seq, const row_visitor& visit) = 0;  // The same.
    virtual result<bool> visit_keys(std::int64_t seq, const row_visitor& visit) = 0;  // For `fits`.
    virtual result<bool> visit_whole(std::int64_t seq,
                                     const row_visitor& visit) = 0;  // read_row's.

    virtual result<> make_pending(std::int64_t seq) = 0;
    /// Due at once, or parked behind an earlier one of its order key.
    virtual result<> place(std::int64_t seq) = 0;
    /// A new id, from when, and for how long: as long as the old one had, if that is zero.
    struct new_life {
        wall_time from;
        std::chrono::milliseconds lasts;
    };
    /// Notes the old id among the attempts.
    virtual result<> give_new_id(std::int64_t seq, const new_life& life) = 0;
    /// Among the attempts, for people.
    virtual result<> note(std::int64_t seq, std::string_view text, wall_time at) = 0;
    virtual result<> make_resolved(std::int64_t seq, std::string_view resolution) = 0;
    virtual result<> make_dead(std::int64_t seq) = 0;
    virtual result<> erase(std::int64_t seq) = 0;
    /// A dead one past its time, whose end is to be told; false if it is not one.
    virtual result<bool> make_expired(std::int64_t seq, wall_time now) = 0;
    virtual result<> write(std::int64_t seq, const message& body) = 0;
    virtual result<> set_checksum(std::int64_t seq, std::int64_t sum) = 0;

    // What the transaction has beside it.
    virtual result<> record_closed(std::int64_t seq, outbox_status status, wall_time at) = 0;
    virtual result<> release_next(const order_scope& of) = 0;
    virtual result<> log(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at) = 0;

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
    result<dead_changed> present(std::int64_t seq, dead_changed if_gone);
    /// Nothing if the row is not to be changed so.
    result<std::optional<target>> target_of(std::int64_t seq, const dead_filter& still,
                                            dead_action how);
    result<> apply(const target& what, const dead_change& how, wall_time now);
    result<> requeue(const target& what, const dead_change& how, wall_time now);
    result<> let_go(const order_scope& of);
    result<seal> seal_of(std::int64_t seq);
    /// After a change that was meant.
    result<> reseal(std::int64_t seq, seal before);
    struct edited_message {
        message body;
        std::string changes;  // In words; empty if nothing is another than it was.
    };
    result<edited_message> edited(std::int64_t seq, const message_edit& how);

    message_limits limits_{};
};

}  // namespace posthorn
