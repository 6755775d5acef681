#include "store/postgres/driver/failures.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/text/without_password.hpp"

namespace posthorn::postgres {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    return text;
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string field(const PGresult* answer, int which) {
    const char* const text = PQresultErrorField(answer, which);
    return text == nullptr ? std::string{} : text;
}

std::string_view or_it(const char* name) { return name == nullptr ? "it" : name; }

std::string advice(std::string_view state, error_code code, bool cancelled, std::string_view role) {
    if (state == "57014" && cancelled) return "; the unit took too long, make it smaller";
    if (state == "57014")
        return fmt::format(
            "; if an administrator has set statement_timeout, lift it for this role: ALTER ROLE {} "
            "SET statement_timeout = 0",
            role);
    if (state == "26000" || state == "42P05")
        return "; a pooler in transaction mode, such as PgBouncer, mixes sessions up: use session "
               "mode, or connect to the server itself";
    switch (code) {
        case error_code::store_read_only:
            return "; this server is a standby or read-only: connect to the primary, say with "
                   "target_session_attrs=read-write in the URL";
        case error_code::store_busy: return "; others hold what it needs, try again";
        case error_code::store_full: return "; free space on the server's disk, nothing was lost";
        case error_code::store_unavailable: return "; it is tried again";
        case error_code::statement_forbidden:
            return "; a unit must not begin, end or nest transactions, nor change the session";
        default: return "";
    }
}

}  // namespace

bool is_ours(std::string_view name) {
    constexpr std::array<std::string_view, 5> beginnings{"outbox_", "inbox_messages", "posthorn_",
                                                         "changes", "dispatcher_epochs"};
    return std::ranges::any_of(beginnings,
                               [name](std::string_view each) { return name.starts_with(each); });
}

error_code classify(std::string_view state) noexcept {
    constexpr std::array<std::pair<std::string_view, error_code>, 21> whole{{
        {"25006", error_code::store_read_only},
        {"25001", error_code::statement_forbidden},
        {"2D000", error_code::statement_forbidden},
        {"26000", error_code::store_unavailable},
        {"42P05", error_code::store_unavailable},
        {"40001", error_code::store_busy},
        {"40P01", error_code::store_busy},
        {"55P03", error_code::store_busy},
        {"53100", error_code::store_full},
        {"53200", error_code::store_busy},
        {"53300", error_code::store_unavailable},
        {"57014", error_code::statement_interrupted},
        {"57P01", error_code::store_unavailable},
        {"57P02", error_code::store_unavailable},
        {"57P03", error_code::store_unavailable},
        {"57P05", error_code::store_unavailable},
        {"25P03", error_code::store_unavailable},
        {"58030", error_code::io_failed},
        {"XX001", error_code::store_corrupt},
        {"XX002", error_code::store_corrupt},
        {"28P01", error_code::invalid_configuration},
    }};
    const auto* const found = std::ranges::find(whole, state, &decltype(whole)::value_type::first);
    if (found != whole.end()) return found->second;
    if (state.starts_with("08")) return error_code::store_unavailable;
    return error_code::statement_failed;
}

error connect_failure(pg_conn* handle, std::string_view url) {
    // The server gives no code to one whom it does not let in.
    const std::string_view said = trimmed(PQerrorMessage(handle));
    if (has_unescaped_password(url))  // The client's own words may quote a part of it.
        return {error_code::invalid_configuration,
                fmt::format("cannot connect to '{}': {}", without_password(url), how_to_escape)};
    auto code = error_code::store_unavailable;
    std::string what_to_do = "; is it running, and is store.url right?";
    if (has(said, "authentication failed") || has(said, "no password supplied") ||
        has(said, "no pg_hba.conf entry")) {
        code = error_code::invalid_configuration;
        what_to_do =
            "; look at the name and the password in store.url (or PGPASSWORD, or .pgpass), and at "
            "pg_hba.conf";
    } else if (has(said, "CONNECT privilege")) {
        code = error_code::invalid_configuration;
        what_to_do = fmt::format("; grant it: GRANT CONNECT ON DATABASE {} TO {}",
                                 or_it(PQdb(handle)), or_it(PQuser(handle)));
    } else if (has(said, "not permitted to log in")) {
        code = error_code::invalid_configuration;
        what_to_do = "; let it: ALTER ROLE ... LOGIN";
    } else if (has(said, "does not exist")) {
        code = error_code::invalid_configuration;
        what_to_do = "; create it, or change store.url";
    } else if (has(said, "too many") || has(said, "connection slots are reserved")) {
        what_to_do =
            "; raise max_connections, give the role a higher CONNECTION LIMIT, or stop "
            "what holds them. It is tried again";
    } else if (has(said, "starting up") || has(said, "recovery") || has(said, "shutting down")) {
        what_to_do = "; it is tried again";
    } else if (has(said, "invalid connection option") || has(said, "missing \"=\"") ||
               has(said, "invalid URI") || has(said, "invalid integer value")) {
        code = error_code::invalid_configuration;
        what_to_do = "; mend store.url";
    }
    return {code,
            fmt::format("cannot connect to '{}': {}{}", without_password(url), said, what_to_do)};
}

error lost_failure(pg_conn* handle) {
    const std::string_view said = trimmed(PQerrorMessage(handle));
    return {error_code::store_unavailable,
            fmt::format("the connection to the database was lost: {}; it is made anew",
                        said.empty() ? "no word from the server" : said)};
}

namespace {

/// What a role may not use: "table" and its name, say. Empty if it is about something else.
std::pair<std::string_view, std::string_view> denied_object(std::string_view said) {
    constexpr std::string_view begin = "permission denied for ";
    if (!said.starts_with(begin)) return {};
    said.remove_prefix(begin.size());
    const auto blank = said.find(' ');
    if (blank == std::string_view::npos) return {};
    return {said.substr(0, blank), said.substr(blank + 1)};
}

}  // namespace

std::string missing_grant(std::string_view denied, std::string_view role, std::string_view schema) {
    const auto [kind, object] = denied_object(denied);
    if (kind.empty()) return {};
    auto name = std::string(object);
    if (kind == "schema")
        return fmt::format(
            "GRANT USAGE ON SCHEMA {} TO {} (and CREATE, if it is to make the tables)", name, role);
    if (kind == "database") return fmt::format("GRANT CREATE ON DATABASE {} TO {}", name, role);
    if (!schema.empty() && is_ours(name)) name = fmt::format("{}.{}", schema, name);
    if (kind == "sequence") return fmt::format("GRANT USAGE ON SEQUENCE {} TO {}", name, role);
    if (kind == "function") return fmt::format("GRANT EXECUTE ON FUNCTION {} TO {}", name, role);
    return fmt::format("GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO {}", name, role);
}

namespace {

// Either the sequence has come to its end, or to a number that the table refuses.
bool has_no_number(std::string_view said) {
    return has(said, "reached maximum value of sequence \"outbox_seq\"") ||
           has(said, "seq is given by the table");
}

std::string numbers_used_up(std::string_view schema) {
    return fmt::format(
        "; if the INSERT left seq out, the sequence outbox_seq was set to its end by hand: delete "
        "rows of outbox_messages with such a seq, and run SELECT setval('{0}.outbox_seq', (SELECT "
        "coalesce(max(seq), 1) FROM {0}.outbox_messages))",
        schema);
}

}  // namespace

error statement_failure(const pg_result* answer, pg_conn* handle, bool cancelled,
                        std::string_view schema) {
    const auto state = field(answer, PG_DIAG_SQLSTATE);
    const auto said = field(answer, PG_DIAG_MESSAGE_PRIMARY);
    auto code = classify(state);
    const auto role = or_it(PQuser(handle));
    const auto what_to_do =
        has_no_number(said) ? numbers_used_up(schema) : advice(state, code, cancelled, role);
    // A role that may not write the store's own tables has a read-only store.
    if (state == "42501" && is_ours(denied_object(said).second)) code = error_code::store_read_only;
    // Of a CHECK or NOT NULL it shows the whole row: columns that the statement never named, to all
    // who are told of the failure.
    const bool shows_row = state == "23514" || state == "23502";
    const auto detail = shows_row ? std::string{} : field(answer, PG_DIAG_MESSAGE_DETAIL);
    auto text = fmt::format("{}{}{} (PostgreSQL {}){}", said, detail.empty() ? "" : ": ", detail,
                            state, what_to_do);
    if (state == "42501")
        if (const auto grant = missing_grant(said, role, schema); !grant.empty())
            text += fmt::format("; grant it: {}", grant);
    return {code, text};
}

}  // namespace posthorn::postgres
