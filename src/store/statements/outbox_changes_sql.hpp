#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

/// Each is given the row's number first, if not otherwise said.
struct outbox_changes_sql {
    statement_text retry;
    statement_text close;
    statement_text pending;  // A row if it is.
    statement_text attempt;
    statement_text unanswered;  // Nothing if there is one of the row already.
    statement_text end;
    statement_text requeue;  // By id; gives the number.
    statement_text known;    // Number and id of the first one with a destination's dedupe key.
    statement_text told;     // Gives whether the message is at an end.
    statement_text pause;
    statement_text resume;
};

extern const outbox_changes_sql outbox_changes_texts;

}  // namespace posthorn
