#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

struct order_rules_sql {
    statement_text policy;   // Keeps it.
    statement_text scope;    // Destination, key and tenant of a row, if it has a key.
    statement_text head;     // The first pending one of the three.
    statement_text release;  // Of a row that is parked, if nothing is in its way.
    statement_text place;    // A pending row: due at once, or parked.
    statement_text due_row;  // A row that is pending and due at a time, in whole.
};

extern const order_rules_sql order_rules_texts;

}  // namespace posthorn
