#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

/// Each is given source and id first.
struct inbox_changes_sql {
    statement_text find;       // As `read_inbox_entry` reads it.
    statement_text insert;     // Unless it is there.
    statement_text claim;      // Likewise; what is there stays as it is while the unit runs.
    statement_text take_over;  // A claim that has run out.
    statement_text respond;
    statement_text complete;  // Gives the row's number.
    statement_text release;
};

/// The same as a reading connection sees it.
struct inbox_looks_sql {
    statement_text find;
    statement_text count;
};

extern const inbox_changes_sql inbox_changes_texts;
extern const inbox_looks_sql inbox_looks_texts;

}  // namespace posthorn
