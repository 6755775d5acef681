#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

/// Rows one after the other, of a status or of a cause: from which number on, which one, and
/// how many at most.
struct dead_letter_walk_sql {
    statement_text of_status;
    statement_text of_cause;
};

struct dead_letter_pages_sql {
    dead_letter_walk_sql down;
    dead_letter_walk_sql up;
    statement_text highest;
    statement_text by_seq;
    statement_text by_id;
    statement_text groups;
    statement_text ungrouped;
};

extern const dead_letter_pages_sql dead_letter_pages_texts;

}  // namespace posthorn
