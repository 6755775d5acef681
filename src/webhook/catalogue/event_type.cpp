#include "webhook/catalogue/event_type.hpp"

#include <algorithm>
#include <array>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/utf8.hpp"
#include "store/rows/stored_time.hpp"
#include "webhook/subscription.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t json_bytes_max = std::size_t{64} << 10;
constexpr std::size_t description_bytes_max = 1000;
// The lengths are looked at where they lie: any program may have written them, of any size.
constexpr std::string_view columns =
    "substr(name, 1, 1000), substr(description, 1, 4000),"
    " CASE WHEN octet_length(schema) <= 65536 THEN schema END,"
    " CASE WHEN octet_length(example) <= 65536 THEN example END, created_at, updated_at";

event_type read(const sql_row& row) {
    event_type one;
    one.name = row.text(0);
    one.description = row.text(1);
    one.schema = row.text(2);
    one.example = row.text(3);
    one.created_at = bounded_from_ms(row.integer(4));
    if (!row.is_null(5)) one.updated_at = bounded_from_ms(row.integer(5));
    return one;
}

sql_param or_null(std::string_view text) {
    if (text.empty()) return nullptr;
    return text;
}

// What plain SQL has written may not be JSON; then it is not shown.
void set_json(json::object& into, std::string_view name, std::string_view text) {
    boost::system::error_code wrong;
    auto value = json::parse(text, wrong);
    if (!wrong) into[name] = std::move(value);
}

/// JSON, or a text that holds it, as the command line gives it.
result<std::string> json_of(const json::value& value, std::string_view name) {
    if (value.is_null()) return std::string{};
    if (!value.is_string()) return json::serialize(value);
    boost::system::error_code wrong;
    const auto inside = json::parse(value.as_string(), wrong);
    if (wrong) return fail(error_code::invalid_argument, "{} is not JSON", name);
    return json::serialize(inside);
}

result<> take(event_type& one, std::string_view name, const json::value& value) {
    if (name == "schema" || name == "example") {
        POSTHORN_LET(text, json_of(value, name));
        if (name == "schema" && !text.empty() && text.front() != '{')
            return fail(error_code::invalid_argument, "a schema is a JSON object");
        if (text.size() > json_bytes_max)
            return fail(error_code::invalid_argument, "{} has {} bytes; at most {} are allowed",
                        name, text.size(), json_bytes_max);
        (name == "schema" ? one.schema : one.example) = std::move(text);
        return {};
    }
    if (name != "name" && name != "description")
        return fail(error_code::invalid_argument,
                    "'{}' is not known of a type; there are name, description, schema and example",
                    clean_utf8(name, 100));
    if (!value.is_string()) return fail(error_code::invalid_argument, "{} is a text", name);
    (name == "name" ? one.name : one.description) = value.as_string();
    return {};
}

}  // namespace

json::object to_json(const event_type& one) {
    json::object shown{{"name", clean_utf8(one.name, 256)},
                       {"createdAt", to_iso8601(one.created_at)}};
    if (!one.description.empty())
        shown["description"] = clean_utf8(one.description, description_bytes_max);
    set_json(shown, "schema", one.schema);
    set_json(shown, "example", one.example);
    if (one.updated_at) shown["updatedAt"] = to_iso8601(*one.updated_at);
    return shown;
}

result<event_type> read_event_type(std::string_view body) {
    boost::system::error_code wrong;
    const auto said = json::parse(body, wrong);
    if (wrong || !said.is_object())
        return fail(error_code::malformed_request, "the body is not a JSON object");
    event_type made;
    for (const auto& [name, value] : said.as_object()) POSTHORN_TRY(take(made, name, value));
    // A slash would have to be written otherwise in the paths of routes.
    if (!is_event_type(made.name) || made.name.find_first_of("*/") != std::string::npos)
        return fail(error_code::invalid_argument,
                    "'{}' is not the name of a type of events; write one such as order.paid",
                    clean_utf8(made.name, 100));
    if (made.description.size() > description_bytes_max || !is_utf8(made.description))
        return fail(error_code::invalid_argument, "a description has at most {} bytes of UTF-8",
                    description_bytes_max);
    return made;
}

result<std::vector<event_type>> read_event_types(store_reader& from) {
    std::vector<event_type> all;
    const auto sql = fmt::format("SELECT {} FROM webhook_event_types ORDER BY name", columns);
    POSTHORN_TRY(from.query(sql, {}, [&](const sql_row& row) { all.push_back(read(row)); }));
    return all;
}

result<std::optional<event_type>> find_event_type(store_reader& from, std::string_view name) {
    std::optional<event_type> found;
    const std::array<sql_param, 1> with{name};
    const auto sql = fmt::format("SELECT {} FROM webhook_event_types WHERE name = ?", columns);
    POSTHORN_TRY(from.query(sql, with, [&](const sql_row& row) { found = read(row); }));
    return found;
}

result<> put_event_type(store_transaction& tx, const event_type& one, wall_time now) {
    const auto at = now.time_since_epoch().count();
    const std::array<sql_param, 5> changed{or_null(one.description), or_null(one.schema),
                                           or_null(one.example), at, std::string_view(one.name)};
    POSTHORN_LET(was_there, tx.execute("UPDATE webhook_event_types SET description = ?, schema = ?,"
                                       " example = ?, updated_at = ? WHERE name = ?",
                                       changed));
    if (was_there != 0) return {};
    const std::array<sql_param, 5> made{std::string_view(one.name), or_null(one.description),
                                        or_null(one.schema), or_null(one.example), at};
    POSTHORN_TRY(
        tx.execute("INSERT INTO webhook_event_types (name, description, schema, example,"
                   " created_at) VALUES (?, ?, ?, ?, ?)",
                   made));
    return {};
}

result<bool> delete_event_type(store_transaction& tx, std::string_view name) {
    const std::array<sql_param, 1> with{name};
    POSTHORN_LET(gone, tx.execute("DELETE FROM webhook_event_types WHERE name = ?", with));
    return gone != 0;
}

result<> check_pattern(std::string_view pattern, const std::vector<event_type>& of) {
    if (pattern == "*" ||
        std::ranges::any_of(of, [&](const event_type& each) { return covers(pattern, each.name); }))
        return {};
    return fail(error_code::invalid_argument,
                "no type of the catalogue is '{}'; 'posthorn webhooks types' lists them",
                clean_utf8(pattern, 100));
}

}  // namespace posthorn
