#include "audit/last_change.hpp"

#include <array>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

constexpr std::size_t shown_characters_max = 200;

// Newest first. What is under way now is not done, and what was refused has another outcome.
constexpr std::string_view last_sql =
    "SELECT who, target, at FROM posthorn_audit WHERE target LIKE ? AND outcome LIKE 'done%'"
    " ORDER BY seq DESC LIMIT 1";

}  // namespace

result<std::optional<known_change>> last_change_of(store& where, std::string_view path) {
    std::optional<known_change> last;
    const auto below = std::string(path) + "/%";
    const std::array<sql_param, 1> with{std::string_view(below)};
    POSTHORN_TRY(where.read([&](store_reader& from) {
        return from.query(last_sql, with, [&](const sql_row& row) {
            last = {.who = clean_utf8(row.text(0), shown_characters_max),
                    .target = clean_utf8(row.text(1), shown_characters_max),
                    .at = wall_time(std::chrono::milliseconds(row.integer(2)))};
        });
    }));
    return last;
}

}  // namespace posthorn
