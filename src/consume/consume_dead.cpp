#include "consume/consume_dead.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/utf8.hpp"
#include "security/digest.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t text_max = 2'000;

// `about` is what came with the body, as JSON; the body is bytes, since it may be anything.
constexpr std::string_view first =
    "CREATE TABLE IF NOT EXISTS posthorn_consume_dead ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " source TEXT NOT NULL,"
    " fingerprint TEXT NOT NULL,"
    " message_id TEXT NOT NULL,"
    " endpoint TEXT NOT NULL,"
    " about TEXT NOT NULL,"
    " body BLOB NOT NULL,"
    " reason TEXT NOT NULL,"
    " deliveries INTEGER NOT NULL,"
    " dead_at INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX IF NOT EXISTS idx_consume_dead ON posthorn_consume_dead"
    " (source, fingerprint);";

constexpr std::string_view first_on_server =
    "CREATE TABLE {s}.posthorn_consume_dead ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " source text NOT NULL,"
    " fingerprint text NOT NULL,"
    " message_id text NOT NULL,"
    " endpoint text NOT NULL,"
    " about text NOT NULL,"
    " body bytea NOT NULL,"
    " reason text NOT NULL,"
    " deliveries bigint NOT NULL,"
    " dead_at bigint NOT NULL);"
    "CREATE UNIQUE INDEX consume_dead_fingerprint ON {s}.posthorn_consume_dead"
    " (source, fingerprint);";

constexpr std::array steps{migration{1, first}};
constexpr std::array steps_on_server{migration{1, first_on_server}};

using column = copied_table::column;
using enum copied_table::column::kind;
constexpr std::array columns{column{"seq", number},        column{"source"},
                             column{"fingerprint"},        column{"message_id", note},
                             column{"endpoint", note},     column{"about", note},
                             column{"body", bytes},        column{"reason", note},
                             column{"deliveries", number}, column{"dead_at", number}};
constexpr std::array copied{
    copied_table{.name = "posthorn_consume_dead", .columns = columns, .numbered_by = "seq"}};

constexpr std::string_view insert_sql =
    "INSERT INTO posthorn_consume_dead (source, fingerprint, message_id, endpoint, about, body,"
    " reason, deliveries, dead_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (source, fingerprint) DO NOTHING";

constexpr std::string_view page_sql =
    "SELECT seq, substr(source, 1, 255), substr(message_id, 1, 2000), substr(endpoint, 1, 2000),"
    " substr(reason, 1, 2000), deliveries, dead_at, octet_length(body)"
    " FROM posthorn_consume_dead WHERE seq > ?1 AND (?2 = '' OR source = ?2)"
    " ORDER BY seq LIMIT ?3";

constexpr std::string_view whole_sql =
    "SELECT seq, source, message_id, endpoint, reason, deliveries, dead_at, octet_length(body),"
    " about, body FROM posthorn_consume_dead WHERE seq = ?1";

constexpr std::string_view count_sql =
    "SELECT source, count(*) FROM posthorn_consume_dead GROUP BY source ORDER BY source";

constexpr std::string_view delete_sql = "DELETE FROM posthorn_consume_dead WHERE seq = ?1";

std::string hex_of(const sha256_digest& digest) {
    std::string text;
    for (const auto each : digest) text += fmt::format("{:02x}", std::to_integer<int>(each));
    return text;
}

/// Of a message that comes again it is the same. One without an id and without a place in a log cannot
/// be told from another that says the same: each is kept, rather than one of them lost.
std::string fingerprint_of(const received_message& from, wall_time now) {
    const auto& what = from.what;
    sha256 hash;
    for (const auto* const each : {&what.id, &what.address, &what.body}) hash.add_field(*each);
    for (const auto& [name, value] : what.headers) {
        if (name.starts_with("x-")) continue;  // The broker's own, such as how often it was given.
        hash.add_field(name);
        hash.add_field(value);
    }
    if (what.id.empty()) hash.add_field(from.offset);
    if (what.id.empty() && from.offset.empty())
        hash.add_field(fmt::format("{} {}", from.tag, now.time_since_epoch().count()));
    return hex_of(hash.finish());
}

// Nothing here need be UTF-8, and JSON and PostgreSQL take nothing else.
std::string clean(std::string_view text) {
    auto kept = clean_utf8(text, text_max);
    std::erase(kept, '\0');
    return kept;
}

std::string about_of(const received_message& from) {
    json::array headers;
    for (const auto& [name, value] : from.what.headers)
        headers.push_back(json::array{clean(name), clean(value)});
    return json::serialize(json::object{{"id", clean(from.what.id)},
                                        {"address", clean(from.what.address)},
                                        {"contentType", clean(from.what.content_type)},
                                        {"correlationId", clean(from.what.correlation_id)},
                                        {"createdSeconds", from.what.created_seconds},
                                        {"offset", clean(from.offset)},
                                        {"headers", std::move(headers)}});
}

std::string text_in(const json::object& from, std::string_view name) {
    const auto* const found = from.if_contains(name);
    return found != nullptr && found->is_string() ? std::string(found->get_string())
                                                  : std::string();
}

// A row may have been written by another hand.
received_message read_about(std::string_view about) {
    received_message made;
    boost::system::error_code wrong;
    const auto read = json::parse(about, wrong);
    const auto* const fields = wrong ? nullptr : read.if_object();
    if (fields == nullptr) return made;
    made.what.id = text_in(*fields, "id");
    made.what.address = text_in(*fields, "address");
    made.what.content_type = text_in(*fields, "contentType");
    made.what.correlation_id = text_in(*fields, "correlationId");
    made.offset = text_in(*fields, "offset");
    if (const auto* const made_at = fields->if_contains("createdSeconds");
        made_at != nullptr && made_at->is_int64())
        made.what.created_seconds = made_at->get_int64();
    const auto* const headers = fields->if_contains("headers");
    if (headers == nullptr || !headers->is_array()) return made;
    for (const auto& each : headers->get_array()) {
        const auto* const pair = each.if_array();
        if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() ||
            !(*pair)[1].is_string())
            continue;
        made.what.headers.emplace_back((*pair)[0].get_string(), (*pair)[1].get_string());
    }
    return made;
}

consumed_dead read_row(const sql_row& row) {
    return {.seq = row.integer(0),
            .source = std::string(row.text(1)),
            .message_id = std::string(row.text(2)),
            .endpoint = std::string(row.text(3)),
            .reason = std::string(row.text(4)),
            .deliveries = row.get<std::uint32_t>(5),
            .dead_at = wall_time(std::chrono::milliseconds(row.integer(6))),
            .payload_size = row.integer(7)};
}

}  // namespace

result<> put_aside(store_transaction& tx, std::string_view source, const received_message& what,
                   std::string_view reason, wall_time now) {
    const auto fingerprint = fingerprint_of(what, now);
    const auto id = clean(what.what.id);
    const auto* const said = what.what.header(broker_header::endpoint);
    const auto endpoint = clean(said == nullptr ? what.what.address : *said);
    const auto about = about_of(what);
    const auto why = clean(reason);
    const std::array<sql_param, 9> with{source,
                                        std::string_view(fingerprint),
                                        std::string_view(id),
                                        std::string_view(endpoint),
                                        std::string_view(about),
                                        blob{std::as_bytes(std::span(what.what.body))},
                                        std::string_view(why),
                                        static_cast<std::int64_t>(what.deliveries),
                                        now.time_since_epoch().count()};
    POSTHORN_TRY(tx.execute(insert_sql, with));
    return {};
}

result<std::vector<consumed_dead>> list_put_aside(store_reader& from,
                                                  const consumed_dead_filter& which) {
    std::vector<consumed_dead> all;
    const std::array<sql_param, 3> with{which.after, std::string_view(which.source), which.limit};
    POSTHORN_TRY(
        from.query(page_sql, with, [&](const sql_row& row) { all.push_back(read_row(row)); }));
    return all;
}

result<std::optional<consumed_dead>> find_put_aside(store_reader& from, std::int64_t seq) {
    std::optional<consumed_dead> found;
    const std::array<sql_param, 1> with{seq};
    POSTHORN_TRY(from.query(whole_sql, with, [&](const sql_row& row) {
        found = read_row(row);
        auto whole = read_about(row.text(8));
        const auto body = row.bytes(9);
        whole.what.body.assign(reinterpret_cast<const char*>(body.data()), body.size());
        whole.deliveries = found->deliveries;
        found->whole = std::move(whole);
    }));
    return found;
}

result<std::vector<std::pair<std::string, std::int64_t>>> count_put_aside(store_reader& from) {
    std::vector<std::pair<std::string, std::int64_t>> all;
    POSTHORN_TRY(from.query(
        count_sql, {}, [&](const sql_row& row) { all.emplace_back(row.text(0), row.integer(1)); }));
    return all;
}

result<bool> forget_put_aside(store_transaction& tx, std::int64_t seq) {
    const std::array<sql_param, 1> with{seq};
    POSTHORN_LET(gone, tx.execute(delete_sql, with));
    return gone > 0;
}

table_set consume_tables() noexcept {
    return {{"inbox/consume", steps}, {"inbox/consume", steps_on_server}, copied};
}

}  // namespace posthorn
