#pragma once

#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// For a statement of ours that had to change a row of the table, changed none, and did not fail:
/// a trigger with RAISE(IGNORE), one that returns NULL, or a rule is in its way. To believe it
/// would be to lose a message, or to send one without end.
[[nodiscard]] inline std::unexpected<error> swallowed(
    std::string_view table, error_code code = error_code::statement_failed) {
    return fail(code,
                "the database gave no error, but left {} as it was: a trigger or a rule on it lets "
                "the change vanish; 'posthorn doctor' names those that are not Posthorn's, drop it "
                "or let it pass what Posthorn writes",
                table);
}

}  // namespace posthorn
