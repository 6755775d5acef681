#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

/// Each is given the row's number first, but for `by_id`.
struct dead_letter_rows_sql {
    statement_text by_id;
    statement_text by_seq;
    statement_text keys;
    statement_text whole;
    statement_text requeue;
    statement_text note;    // With when, and the text.
    statement_text old_id;  // Before the row has its new id, so that the old one is kept.
    statement_text renew;
    statement_text resolve;
    statement_text reopen;
    statement_text remove;
    statement_text expire;
    statement_text ended;
    statement_text reseal;
    statement_text edit;  // With what a person may change.
};

extern const dead_letter_rows_sql dead_letter_rows_texts;

}  // namespace posthorn
