#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/outbox_table.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/flow_walk.hpp"

namespace posthorn::sqlite {

/// Goes through what is due of a destination, flow by flow, for what is past its time. There is no
/// index of expiries: hardly any message has one that counts, and every insert would pay for it.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class expired_rows {
public:
    struct found {
        std::vector<std::int64_t> seqs;
        std::optional<pending_place> last{};  // Empty at the end.
    };

    explicit expired_rows(connection& database);

    result<found> look(const expired_question& asked);

private:
    /// One flow, from a place on. Gives false if there was no time for all of it.
    result<bool> look_at(const flow& one, const expired_question& asked, std::size_t& rows_left,
                         pending_place& place, found& into);
    static result<bool> take(rows& from, const expired_question& asked, std::size_t& rows_left,
                             pending_place& place, found& into);

    flow_walk walk_;
    statement same_time_;
    statement later_;
};

}  // namespace posthorn::sqlite
