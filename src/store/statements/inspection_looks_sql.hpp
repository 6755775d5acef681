#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

struct inspection_looks_sql {
    statement_text count_pending;
    statement_text count_sent;
    statement_text count_closed;  // Of a status.
    statement_text count_dead_messages;
    statement_text show;  // By id, and whether with the payload.
    statement_text attempts;
    /// By seq: id, status, time and seq of what is in its way, the first of each status.
    statement_text waits_behind;
    /// Destination, order key and tenant; id, status and time of the first one given up; how
    /// many wait; how many were looked at. Given the limits of rows, keys and messages.
    statement_text blocked;
    statement_text newest;
    statement_text highest;     // Seq, or NULL.
    statement_text times_from;  // When they were created, of a number of rows from a seq on.
    statement_text inbox_count;
    statement_text inbox_ends;  // The lowest seq and the highest.
};

extern const inspection_looks_sql inspection_looks_texts;

}  // namespace posthorn
