#pragma once

#include "store/statements/statement_text.hpp"

namespace posthorn {

/// Given when, what, and the rows as ranges; it finds out the dispatcher's epoch itself.
extern const statement_text change_log_text;

}  // namespace posthorn
