#include "store/postgres/driver/sql_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace posthorn::postgres {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The end of what begins at `at` and is to be passed over: a quoted text or name, a dollar-quoted
/// text, a comment. `at` itself if nothing of that begins there.
std::size_t end_of_quoted(std::string_view sql, std::size_t at) {
    const auto end_at = [&](std::size_t found, std::size_t length) {
        return found == std::string_view::npos ? sql.size() : found + length;
    };
    const char c = sql[at];
    if (c == '\'' || c == '"') {
        const bool escapes = c == '\'' && at > 0 && (sql[at - 1] == 'E' || sql[at - 1] == 'e') &&
                             (at < 2 || !is_word(sql[at - 2]));
        for (std::size_t i = at + 1; i < sql.size(); ++i) {
            if (escapes && sql[i] == '\\')
                ++i;
            else if (sql[i] == c)
                return i + 1;  // A doubled one begins anew, which comes to the same.
        }
        return sql.size();
    }
    if (sql.substr(at).starts_with("--")) return end_at(sql.find('\n', at), 1);
    if (sql.substr(at).starts_with("/*")) {
        int depth = 0;
        for (std::size_t i = at; i + 1 < sql.size(); ++i) {
            if (sql.substr(i, 2) == "/*") {
                ++depth;
                ++i;
            } else if (sql.substr(i, 2) == "*/") {
                ++i;
                if (--depth == 0) return i + 1;
            }
        }
        return sql.size();
    }
    if (c == '$' && (at == 0 || !is_word(sql[at - 1]))) {
        auto tag_end = at + 1;
        while (tag_end < sql.size() && is_word(sql[tag_end])) ++tag_end;
        const bool is_number =
            at + 1 < sql.size() && std::isdigit(static_cast<unsigned char>(sql[at + 1])) != 0;
        if (is_number || tag_end >= sql.size() || sql[tag_end] != '$') return at;
        const auto tag = sql.substr(at, tag_end + 1 - at);
        return end_at(sql.find(tag, tag_end + 1), tag.size());
    }
    return at;
}

bool has_numbered(std::string_view sql) {
    for (std::size_t i = 0; i + 1 < sql.size(); ++i) {
        if (const auto end = end_of_quoted(sql, i); end != i) {
            i = end - 1;
            continue;
        }
        if (sql[i] == '$' && std::isdigit(static_cast<unsigned char>(sql[i + 1])) != 0) return true;
    }
    return false;
}

std::string first_word(std::string_view sql) {
    std::size_t i = 0;
    while (i < sql.size()) {
        const char c = sql[i];
        const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0 || c == ';' || c == '(';
        const auto end = c == '-' || c == '/' ? end_of_quoted(sql, i) : i;
        if (end != i)
            i = end;
        else if (blank)
            ++i;
        else
            break;
    }
    std::string word;
    for (; i < sql.size() && is_word(sql[i]); ++i)
        word += static_cast<char>(std::toupper(static_cast<unsigned char>(sql[i])));
    return word;
}

}  // namespace

std::string numbered(std::string_view sql) {
    if (sql.find('?') == std::string_view::npos || has_numbered(sql)) return std::string(sql);
    std::string text;
    int number = 0;
    for (std::size_t i = 0; i < sql.size();) {
        if (const auto end = end_of_quoted(sql, i); end != i) {
            text += sql.substr(i, end - i);
            i = end;
        } else if (sql.substr(i).starts_with("??")) {
            text += '?';
            i += 2;
        } else if (sql[i] == '?') {
            // `?2` has its number already.
            const bool has_number =
                i + 1 < sql.size() && std::isdigit(static_cast<unsigned char>(sql[i + 1])) != 0;
            text += has_number ? "$" : fmt::format("${}", ++number);
            ++i;
        } else {
            text += sql[i++];
        }
    }
    return text;
}

namespace {

std::string in_quotes(std::string_view text, char quote) {
    std::string quoted(1, quote);
    for (const char c : text) {
        if (c == quote) quoted += quote;
        quoted += c;
    }
    return quoted + quote;
}

}  // namespace

std::string text_literal(std::string_view text) { return in_quotes(text, '\''); }

std::string with_schema(std::string_view sql, std::string_view schema) {
    constexpr std::string_view mark = "{s}";
    std::string text;
    for (;;) {
        const auto at = sql.find(mark);
        text += sql.substr(0, at);
        if (at == std::string_view::npos) return text;
        text += schema;
        sql.remove_prefix(at + mark.size());
    }
}

std::string quoted_identifier(std::string_view name) { return in_quotes(name, '"'); }

result<> require_allowed(std::string_view sql) {
    constexpr std::array<std::string_view, 19> forbidden{
        "ABORT",    "BEGIN",     "CHECKPOINT", "COMMIT", "DEALLOCATE", "DISCARD", "END",
        "EXECUTE",  "LISTEN",    "LOAD",       "NOTIFY", "PREPARE",    "RELEASE", "RESET",
        "ROLLBACK", "SAVEPOINT", "SET",        "START",  "UNLISTEN"};
    const auto word = first_word(sql);
    if (word.empty())
        return fail(error_code::statement_failed, "the SQL is empty; give a statement");
    if (std::ranges::find(forbidden, word) == forbidden.end()) return {};
    return fail(error_code::statement_forbidden,
                "{} is not for a unit: it must not begin, end or nest transactions, nor change the "
                "session, which others use after it",
                word);
}

}  // namespace posthorn::postgres
