// Destinations that a person has paused.
#include <sqlite3.h>

#include "store/sqlite/outbox_insert.hpp"
#include "store/sqlite/outbox_sql.hpp"

namespace posthorn::sqlite {

result<bool> outbox_sql::pause(const paused_destination& what) {
    pause_.bind(1, std::string_view(what.destination));
    pause_.bind(2, to_ms(what.since));
    pause_.bind(3, std::string_view(what.reason));
    POSTHORN_TRY(pause_.run());
    return sqlite3_changes(sqlite3_db_handle(pause_.handle())) > 0;
}

result<bool> outbox_sql::resume(std::string_view destination) {
    resume_.bind(1, destination);
    POSTHORN_TRY(resume_.run());
    return sqlite3_changes(sqlite3_db_handle(resume_.handle())) > 0;
}

result<std::vector<paused_destination>> outbox_reading::paused() {
    const reset_at_end reset(paused_);
    std::vector<paused_destination> all;
    for (;;) {
        auto row = paused_.step();
        if (!row) return std::unexpected(std::move(row).error());
        if (!*row) return all;
        all.push_back({.destination = std::string(paused_.text(0)),
                       .since = from_ms(paused_.integer(1)),
                       .reason = std::string(paused_.text(2))});
    }
}

}  // namespace posthorn::sqlite
