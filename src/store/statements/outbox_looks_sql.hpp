#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

struct outbox_looks_sql {
    statement_text policy;
    statement_text by_id;
    statement_text status_by_id;
    statement_text counts;
    statement_text paused;
    statement_text ended;  // After a number, how many, and the bytes a message may have.
};

extern const outbox_looks_sql outbox_looks_texts;

}  // namespace posthorn
