#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/lease_table.hpp"
#include "store/outbox_table.hpp"

namespace posthorn {

/// The lease of one dispatcher among several is called this, and its owner.
inline constexpr std::string_view seat_prefix = "dispatcher/";

/// A dispatcher's place in a store that several work on.
struct seat {
    std::string name;
    lease held;
};

/// How many messages of others are wanted, and which of them for whom.
struct arrivals_question {
    std::size_t rows_max = 0;
    std::int64_t epoch = 0;              // Of the dispatcher that claims.
    std::vector<std::string> claimed{};  // The destinations whose messages it claims.
};

/// What became of messages that others have stored.
struct taken_in {
    bool is_more = false;  // There may be more of them.
    std::string odd{};     // The seq of one that cannot be taken in, and why; empty if all can.
};

/// Which dispatcher sends what, inside a write transaction, where several share an outbox.
///
/// A claim is the epoch of the dispatcher's seat, beside the row. It holds as long as the seat
/// does: when that is given back or taken away, all of its claims are void at once, and no row was
/// touched.
class claim_table {
public:
    virtual ~claim_table() = default;

    /// What `outbox_reader::due` gives, without what others have claimed or are about to; all of it
    /// is claimed. `error_code::lease_lost` unless the epoch is that of a seat.
    virtual result<outbox_page> claim(const due_question& asked, std::int64_t epoch) = 0;
    /// Makes messages known to `claim` and to readers that others have committed since the last time,
    /// all of which the store may leave to this. One that cannot be taken in holds up no others.
    virtual result<taken_in> take_in(const arrivals_question& asked) = 0;
    /// Leaves rows to the next dispatcher.
    virtual result<> let_go(std::span<const std::int64_t> seqs, std::int64_t epoch) = 0;
    /// Of all dispatchers, dead ones included.
    virtual result<std::vector<seat>> seats() = 0;
};

}  // namespace posthorn
