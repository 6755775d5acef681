#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

/// Those that find are given a time and how many at most, and `closed` a status too; they give
/// a row's number, and whether it is old. Those that remove are given `Driver::numbers`.
struct old_rows_purge_sql {
    struct {
        statement_text closed;
        statement_text received;
        statement_text changes;
        statement_text sent;  // On a server, after a number too.
    } find;
    struct {
        statement_text message;         // In whichever state.
        statement_text closed_message;  // And a status, which it has to have.
        statement_text closed;          // Unless a message is there that is as it says.
        statement_text received;
        statement_text changes;
    } remove;
    /// Of received rows; given how long one lives at most, now, and how many at most.
    statement_text shorten;
};

extern const old_rows_purge_sql old_rows_purge_texts;

}  // namespace posthorn
