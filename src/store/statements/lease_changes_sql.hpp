#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

/// Each is given the lease's name first; those that give one, its owner, epoch and beat.
struct lease_changes_sql {
    statement_text find;
    statement_text make;  // Unless it is there.
    statement_text take;  // By whom, if it is as seen; gives the new one.
    statement_text beat;
    statement_text release;
};

extern const lease_changes_sql lease_changes_texts;

}  // namespace posthorn
