#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

struct closed_account_sql {
    statement_text error_by_seq;  // Destination, endpoint, last error.
    statement_text find;          // By the three.
    statement_text count;
    statement_text drop_unused;
    statement_text add;  // The three, and when; gives the cause's number.
    statement_text ungrouped;
    /// Seq, when, cause and status; where the database can do so at once, of a row that is there too.
    statement_text record;
};

extern const closed_account_sql closed_account_texts;

}  // namespace posthorn
