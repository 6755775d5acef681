#include "store/postgres/schema/schema_text.hpp"

#include <algorithm>
#include <array>

namespace posthorn::postgres {
namespace {

// Where quotes or a comment that begin here end; here, if none does. Our own text has quotes of
// three kinds, and comments to the end of a line.
std::size_t past_quotes(std::string_view sql, std::size_t at) {
    const auto rest = sql.substr(at);
    std::string_view closed_by;
    if (rest.starts_with("--")) closed_by = "\n";
    if (rest.starts_with("$$")) closed_by = "$$";
    if (rest.starts_with('\'')) closed_by = "'";
    if (rest.starts_with('"')) closed_by = "\"";
    if (closed_by.empty()) return at;
    const auto close = sql.find(closed_by, at + closed_by.size());
    return close == std::string_view::npos ? sql.size() : close + closed_by.size() - 1;
}

std::size_t end_of_statement(std::string_view sql) {
    for (std::size_t at = 0; at < sql.size(); ++at) {
        if (sql[at] == ';') return at;
        at = past_quotes(sql, at);
    }
    return sql.size();
}

// What stands between the commas of a list, which ends with the text or with a bracket that was
// opened before it.
std::vector<std::string_view> parts_of(std::string_view list) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    int depth = 0;
    std::size_t at = 0;
    for (; at < list.size() && depth >= 0; ++at) {
        const char one = list[at];
        if (one == '(') ++depth;
        if (one == ')' && --depth < 0) break;
        if (one == ',' && depth == 0) {
            parts.push_back(list.substr(begin, at - begin));
            begin = at + 1;
        }
        at = past_quotes(list, at);
    }
    parts.push_back(list.substr(begin, std::min(at, list.size()) - begin));
    return parts;
}

std::string_view without_comments_before(std::string_view sql) {
    for (;;) {
        const auto begin = sql.find_first_not_of(" \t\r\n;");
        if (begin == std::string_view::npos) return {};
        sql.remove_prefix(begin);
        if (!sql.starts_with("--")) return sql;
        const auto end = sql.find('\n');
        if (end == std::string_view::npos) return {};
        sql.remove_prefix(end);
    }
}

std::string_view next_word(std::string_view& sql) {
    sql.remove_prefix(std::min(sql.find_first_not_of(" \t\r\n"), sql.size()));
    const auto word = sql.substr(0, sql.find_first_of(" \t\r\n("));
    sql.remove_prefix(word.size());
    return word;
}

std::string plain_name(std::string_view word) {
    if (word.starts_with("{s}.")) word.remove_prefix(4);
    if (word.starts_with('"')) word = word.substr(1, word.size() - 2);
    return std::string(word);
}

constexpr std::array<std::string_view, 4> kinds{"INDEX", "TRIGGER", "VIEW", "FUNCTION"};
constexpr std::array<std::string_view, 8> passed_over{"CREATE",     "OR", "REPLACE", "UNIQUE",
                                                      "CONSTRAINT", "IF", "NOT",     "EXISTS"};

constexpr std::array<std::string_view, 6> of_the_table{"PRIMARY", "UNIQUE",  "CONSTRAINT",
                                                       "CHECK",   "FOREIGN", "EXCLUDE"};

}  // namespace

std::vector<std::string_view> statements_in(std::string_view sql) {
    std::vector<std::string_view> all;
    for (auto rest = without_comments_before(sql); !rest.empty();) {
        all.push_back(rest.substr(0, end_of_statement(rest)));
        rest = without_comments_before(rest.substr(all.back().size()));
    }
    return all;
}

std::vector<schema_object> objects_in(std::string_view sql) {
    std::vector<schema_object> objects;
    for (const auto one : statements_in(sql)) {
        if (!one.starts_with("CREATE ")) continue;
        auto words = one;
        std::string kind;
        for (auto word = next_word(words); !word.empty(); word = next_word(words)) {
            if (std::ranges::find(kinds, word) != kinds.end()) {
                kind = word;
                continue;
            }
            if (std::ranges::find(passed_over, word) != passed_over.end()) continue;
            if (!kind.empty()) objects.push_back({kind, plain_name(word), one});
            break;
        }
    }
    return objects;
}

std::vector<schema_table> tables_in(std::string_view sql) {
    std::vector<schema_table> tables;
    for (const auto one : statements_in(sql)) {
        auto words = one;
        const auto verb = next_word(words);
        if ((verb != "CREATE" && verb != "ALTER") || next_word(words) != "TABLE") continue;
        auto word = next_word(words);
        while (std::ranges::find(passed_over, word) != passed_over.end()) word = next_word(words);
        schema_table found{.name = plain_name(word), .columns = {}};
        if (verb == "CREATE") words.remove_prefix(std::min(words.find('(') + 1, words.size()));
        for (auto part : parts_of(words)) {
            part = without_comments_before(part);
            auto first = next_word(part);
            if (verb == "ALTER" && (first != "ADD" || next_word(part) != "COLUMN")) continue;
            if (verb == "ALTER") first = next_word(part);
            while (std::ranges::find(passed_over, first) != passed_over.end() && verb == "ALTER")
                first = next_word(part);
            if (first.empty() || std::ranges::find(of_the_table, first) != of_the_table.end())
                continue;
            found.columns.push_back(plain_name(first));
        }
        tables.push_back(std::move(found));
    }
    return tables;
}

}  // namespace posthorn::postgres
