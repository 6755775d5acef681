#include "store/sqlite/tables/closed_messages.hpp"

namespace posthorn::sqlite {

closed_messages::closed_messages(connection& database)
    : closed_account(database),
      set_(database, "UPDATE outbox_closed SET at = ?2, cause_id = ?3 WHERE seq = ?1") {}

result<> closed_messages::write(std::int64_t seq, outbox_status status, wall_time at,
                                std::optional<std::int64_t> cause_id) {
    POSTHORN_LET(set, set_.run(seq, to_ms(at), cause_id));
    if (set.changed() > 0) return {};
    return closed_account::write(seq, status, at, cause_id);  // The trigger's row was taken away.
}

}  // namespace posthorn::sqlite
