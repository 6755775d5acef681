// Rows travel by COPY and are read back through a cursor; both ways they are summed up in the same
// form, so that the two sums tell whether the server has what the file had.
#include <algorithm>

#include <libpq-fe.h>

#include "base/checksum.hpp"
#include "base/text/utf8.hpp"
#include "store/postgres/tables/outbox_rows.hpp"
#include "store/postgres/upkeep/copied_tables.hpp"

namespace posthorn::postgres {
namespace {

using kind = copied_table::column::kind;

constexpr std::size_t bytes_at_a_time = 256 * std::size_t{1024};
constexpr std::int64_t rows_at_a_time = 2000;

bool is_text(std::string_view value) {
    return value.find('\0') == std::string_view::npos && is_utf8(value);
}

void add_escaped(std::string& line, std::string_view text) {
    for (const char c : text) {
        switch (c) {
            case '\\': line += "\\\\"; break;
            case '\n': line += "\\n"; break;
            case '\r': line += "\\r"; break;
            case '\t': line += "\\t"; break;
            default: line += c;
        }
    }
}

void add_hex(std::string& line, std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    line += "\\\\x";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        line += digits[byte >> 4U];
        line += digits[byte & 0xfU];
    }
}

/// One row in the form of COPY, and what it adds to the sum.
///
/// Lifetime: of one table's copy.
class row_writer {
public:
    explicit row_writer(const copied_table& table) : table_(table) {}

    result<> add(const sql_row& from) {
        for (std::size_t i = 0; i < table_.columns.size(); ++i) {
            if (i > 0) lines_ += '\t';
            POSTHORN_TRY(add(from, i));
        }
        if (!table_.also.empty()) lines_.append("\t").append(table_.always);
        lines_ += '\n';
        ++sum_.rows;
        return {};
    }
    [[nodiscard]] std::string& lines() { return lines_; }
    [[nodiscard]] table_sum sum() const { return {sum_.rows, hash_.value()}; }

private:
    result<> add(const sql_row& from, std::size_t at) {
        const auto holds = table_.columns[at].holds;
        const bool is_null = from.is_null(at);
        hash_.add(std::uint64_t{is_null ? 0U : 1U});
        if (is_null) {
            lines_ += holds == kind::payload ? "\\N\t\\N" : "\\N";
            return {};
        }
        if (holds == kind::number) {
            hash_.add(from.integer(at));
            lines_ += std::to_string(from.integer(at));
            return {};
        }
        const auto value = from.text(at);
        switch (holds) {
            case kind::bytes: add_hex(lines_, value); break;
            case kind::payload:
                if (is_text(value)) {
                    add_escaped(lines_, value);
                    lines_ += "\t\\N";
                } else {
                    lines_ += "\\N\t";
                    add_hex(lines_, value);
                }
                break;
            case kind::note: {
                const auto clean = storable(value);
                hash_.add(clean);
                add_escaped(lines_, clean);
                return {};
            }
            default:
                if (!is_text(value))
                    return fail(error_code::invalid_argument,
                                "{} of a row of {} ({} = {}) is not UTF-8 text, or holds a zero "
                                "byte, which PostgreSQL cannot store: mend or delete that row",
                                table_.columns[at].name, table_.name, table_.columns[0].name,
                                storable(from.text(0)));
                add_escaped(lines_, value);
        }
        hash_.add(value);
        return {};
    }

    const copied_table& table_;
    std::string lines_;
    checksum hash_;
    table_sum sum_;
};

std::string order_of(const copied_table& table) {
    std::string order(table.columns[0].name);
    if (table.columns[0].holds != kind::number) order += " COLLATE {}";
    if (!table.and_by.empty()) order += ", " + std::string(table.and_by);
    return order;
}

std::string where_of(const copied_table& table) {
    return table.only.empty() ? std::string{} : " WHERE " + std::string(table.only);
}

std::string in_file(const copied_table& table) {
    std::string names;
    for (const auto& one : table.columns) {
        if (!names.empty()) names += ", ";
        names += one.name;
    }
    return fmt::format("SELECT {} FROM {}{} ORDER BY {}", names, table.name, where_of(table),
                       fmt::format(fmt::runtime(order_of(table)), "BINARY"));
}

std::string on_server(const copied_table& table) {
    std::string names;
    for (const auto& one : table.columns) {
        if (!names.empty()) names += ", ";
        if (one.holds == kind::payload)
            names += "coalesce(payload_bytes, convert_to(payload, 'UTF8'))";
        else
            names += one.name;
    }
    return fmt::format("SELECT {} FROM {{s}}.{}{} ORDER BY {}", names, table.name, where_of(table),
                       fmt::format(fmt::runtime(order_of(table)), "\"C\""));
}

std::string copy_command(const copied_table& table) {
    std::string names;
    for (const auto& one : table.columns) {
        if (!names.empty()) names += ", ";
        names += one.name;
        if (one.holds == kind::payload) names += ", payload_bytes";
    }
    if (!table.also.empty()) names.append(", ").append(table.also);
    return fmt::format("COPY {{s}}.{} ({}) FROM STDIN", table.name, names);
}

result<> put(connection& to, std::string& lines) {
    const auto sent = PQputCopyData(to.handle(), lines.data(), static_cast<int>(lines.size()));
    lines.clear();
    if (sent == 1) return {};
    return std::unexpected(to.failure_of(nullptr));
}

/// What the server says to all of it. `reason` takes it back.
result<> end_copy(connection& to, const char* reason = nullptr) {
    if (PQputCopyEnd(to.handle(), reason) != 1) return std::unexpected(to.failure_of(nullptr));
    result<> outcome;
    while (PGresult* const raw = PQgetResult(to.handle())) {
        const rows answer(raw);
        if (PQresultStatus(raw) != PGRES_COMMAND_OK && outcome)
            outcome = std::unexpected(to.failure_of(raw));
    }
    return outcome;
}

result<> begin_copy(const copied_table& table, connection& to) {
    auto command = copy_command(table);
    command.replace(command.find("{s}"), 3, to.schema());
    PGresult* const raw = PQexec(to.handle(), command.c_str());
    const rows answer(raw);
    if (PQresultStatus(raw) == PGRES_COPY_IN) return {};
    return std::unexpected(to.failure_of(raw));
}

}  // namespace

result<table_sum> copy_rows(const copied_table& table, sqlite::moving_file& from, connection& to,
                            const rows_done& done) {
    row_writer lines(table);
    const auto is_there = from.has_table(table.name);
    POSTHORN_TRY(is_there);
    if (!*is_there) return lines.sum();
    POSTHORN_LET(query, from.database().prepare(in_file(table)));
    POSTHORN_TRY(begin_copy(table, to));
    std::int64_t told = 0;
    const auto flush = [&]() -> result<> {
        done(lines.sum().rows - told);
        told = lines.sum().rows;
        return put(to, lines.lines());
    };
    const auto read_all = [&]() -> result<> {
        for (;;) {
            const auto row = query.step();
            POSTHORN_TRY(row);
            if (!*row) return flush();
            POSTHORN_TRY(lines.add(query));
            if (lines.lines().size() >= bytes_at_a_time) POSTHORN_TRY(flush());
        }
    };
    if (auto read = read_all(); !read) {
        const auto undone = end_copy(to, "the copy was given up");
        // If the server has ended it, its word comes first.
        if (!undone && read.error().code() == error_code::store_unavailable)
            return std::unexpected(undone.error());
        return std::unexpected(std::move(read).error());
    }
    POSTHORN_TRY(end_copy(to));
    return lines.sum();
}

result<table_sum> sum_of(const copied_table& table, connection& on, const rows_done& done) {
    POSTHORN_TRY(on.script("DECLARE posthorn_copied NO SCROLL CURSOR FOR " + on_server(table)));
    row_writer lines(table);
    for (;;) {
        POSTHORN_LET(some, on.ask(fmt::format("FETCH {} FROM posthorn_copied", rows_at_a_time)));
        for (int i = 0; i < some.size(); ++i) POSTHORN_TRY(lines.add(some[i]));
        lines.lines().clear();
        done(some.size());
        if (some.size() < rows_at_a_time) break;
    }
    POSTHORN_TRY(on.script("CLOSE posthorn_copied"));
    return lines.sum();
}

}  // namespace posthorn::postgres
