#include "app/cli/contracts/contract_diff.hpp"

#include <map>
#include <set>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace posthorn::cli {
namespace {

namespace json = boost::json;

const json::value* find(const json::object& in, std::string_view key) {
    return in.if_contains(key);
}

std::string text_of(const json::object& in, std::string_view key) {
    const auto* const value = find(in, key);
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

const json::object& object_of(const json::object& in, std::string_view key) {
    static const json::object none;
    const auto* const value = find(in, key);
    return value != nullptr && value->is_object() ? value->as_object() : none;
}

const json::array& array_of(const json::object& in, std::string_view key) {
    static const json::array none;
    const auto* const value = find(in, key);
    return value != nullptr && value->is_array() ? value->as_array() : none;
}

/// What stands in a list, as text; a list may be long, and comes from outside.
std::set<std::string> members_of(const json::array& list) {
    std::set<std::string> all;
    for (const auto& each : list) all.insert(json::serialize(each));
    return all;
}

// Whole numbers of 64 bits, either sign.
__int128 number_of(const json::object& in, std::string_view key, __int128 otherwise) {
    const auto* const value = find(in, key);
    if (value == nullptr) return otherwise;
    if (value->is_int64()) return value->as_int64();
    if (value->is_uint64()) return static_cast<__int128>(value->as_uint64());
    return otherwise;
}

/// What a schema says when it may also be null: the other alternative.
const json::object* without_null(const json::object& schema, bool& nullable) {
    const auto& choices = array_of(schema, "anyOf");
    nullable = choices.size() == 2 && choices[0].is_object() && choices[1].is_object() &&
               text_of(choices[1].as_object(), "type") == "null";
    return nullable ? &choices[0].as_object() : &schema;
}

bool is_variant(const json::object& schema) { return schema.contains("maxProperties"); }

/// Finds what could be written by one schema and not be read by another.
class misfits {
public:
    void compare(const json::object& reader, const json::object& writer, const std::string& at) {
        bool reader_nullable = false;
        bool writer_nullable = false;
        const auto& wanted = *without_null(reader, reader_nullable);
        const auto& given = *without_null(writer, writer_nullable);
        if (describes_anything(wanted)) return;
        if (writer_nullable && !reader_nullable) add(at, "may be null, which is not read");
        if (describes_anything(given)) return add(at, "may be any JSON, which is not read");
        compare_types(wanted, given, at);
    }
    std::vector<std::pair<std::string, std::string>> found;

private:
    static bool describes_anything(const json::object& schema) {
        return !schema.contains("type") && !schema.contains("enum") && !schema.contains("anyOf");
    }
    void add(const std::string& at, std::string what) { found.emplace_back(at, std::move(what)); }

    void compare_types(const json::object& wanted, const json::object& given,
                       const std::string& at) {
        const auto& values = array_of(given, "enum");
        if (wanted.contains("enum")) {
            if (!given.contains("enum")) return add(at, "is no longer one of a few words");
            const auto known = members_of(array_of(wanted, "enum"));
            for (const auto& value : members_of(values))
                if (!known.contains(value))
                    add(at, fmt::format("may be {}, which is not read", value));
            return;
        }
        const auto type = text_of(wanted, "type");
        const auto written = given.contains("enum") ? "string" : text_of(given, "type");
        if (type != written && !(type == "number" && written == "integer"))
            return add(at, fmt::format("is {}, not {}", written, type));
        if (type == "string") return compare_texts(wanted, given, at);
        if (type == "integer") return compare_ranges(wanted, given, at);
        if (type == "array")
            return compare(object_of(wanted, "items"), object_of(given, "items"), at + "[]");
        if (type == "object") compare_objects(wanted, given, at);
    }

    void compare_texts(const json::object& wanted, const json::object& given,
                       const std::string& at) {
        for (const auto* const key : {"format", "pattern"})
            if (wanted.contains(key) && text_of(wanted, key) != text_of(given, key))
                add(at, fmt::format("is not always a {}", text_of(wanted, key)));
    }

    void compare_ranges(const json::object& wanted, const json::object& given,
                        const std::string& at) {
        constexpr __int128 least = -(static_cast<__int128>(1) << 100);
        if (number_of(wanted, "minimum", least) > number_of(given, "minimum", least) ||
            number_of(wanted, "maximum", -least) < number_of(given, "maximum", -least))
            add(at, "may be a number out of range");
    }

    void compare_objects(const json::object& wanted, const json::object& given,
                         const std::string& at) {
        const auto* const values = find(wanted, "additionalProperties");
        if (is_variant(wanted) != is_variant(given) ||
            (values != nullptr && values->is_object()) !=
                object_of(given, "additionalProperties").size() > 0)
            return add(at, "is an object of another kind");
        if (values != nullptr && values->is_object())
            return compare(values->as_object(), object_of(given, "additionalProperties"),
                           at + ".*");
        const auto& fields = object_of(given, "properties");
        const auto always = members_of(array_of(given, "required"));
        for (const auto& name : array_of(wanted, "required"))
            if (name.is_string() && !always.contains(json::serialize(name)))
                add(fmt::format("{}.{}", at, std::string_view(name.as_string())),
                    "may be missing, but is needed");
        for (const auto& [name, schema] : fields) {
            const auto here = fmt::format("{}.{}", at, std::string_view(name));
            const auto* const read = object_of(wanted, "properties").if_contains(name);
            if (read != nullptr && read->is_object() && schema.is_object())
                compare(read->as_object(), schema.as_object(), here);
            else if (read == nullptr && is_variant(wanted))
                add(here, "is an alternative that is not read");
        }
    }
};

using parts = std::map<std::string, const json::object*>;

parts parts_of(const json::array& list, std::string_view key) {
    parts all;
    for (const auto& each : list)
        if (each.is_object()) all.emplace(text_of(each.as_object(), key), &each.as_object());
    return all;
}

/// The same fields, types and all?
void compare_schemas(const json::object& before, const json::object& after, std::string_view key,
                     const std::string& where, std::vector<contract_change>& changes) {
    const auto* const old_one = find(before, key);
    const auto* const new_one = find(after, key);
    if (old_one == nullptr || new_one == nullptr || *old_one == *new_one) return;
    const auto place = fmt::format("{} {}", where, key);
    if (!old_one->is_object() && !new_one->is_object()) {
        changes.push_back({true, place, "is not a schema"});
        return;
    }
    if (old_one->is_object() != new_one->is_object()) {
        changes.push_back({true, place, new_one->is_object() ? "is answered now" : "is no longer"});
        return;
    }
    const bool is_request = key == "request";
    misfits found;
    found.compare((is_request ? new_one : old_one)->as_object(),
                  (is_request ? old_one : new_one)->as_object(), "");
    for (auto& [at, what] : found.found) changes.push_back({true, place + at, std::move(what)});
    if (found.found.empty()) changes.push_back({false, place, "changed; what is written fits"});
}

void compare_messages(const json::object& before, const json::object& after,
                      std::vector<contract_change>& changes) {
    const auto old_ones = parts_of(array_of(before, "messages"), "endpoint");
    const auto new_ones = parts_of(array_of(after, "messages"), "endpoint");
    for (const auto& [endpoint, old_one] : old_ones) {
        const auto same = new_ones.find(endpoint);
        if (same == new_ones.end()) {
            changes.push_back({true, endpoint, "is gone"});
            continue;
        }
        if (text_of(*old_one, "type") != text_of(*same->second, "type"))
            changes.push_back({true, endpoint,
                               fmt::format("was a {} and is a {}", text_of(*old_one, "type"),
                                           text_of(*same->second, "type"))});
        compare_schemas(*old_one, *same->second, "request", endpoint, changes);
        compare_schemas(*old_one, *same->second, "response", endpoint, changes);
    }
    for (const auto& [endpoint, new_one] : new_ones)
        if (!old_ones.contains(endpoint)) changes.push_back({false, endpoint, "is new"});
}

}  // namespace

std::vector<contract_change> compare_contracts(const json::object& before,
                                               const json::object& after) {
    std::vector<contract_change> changes;
    const auto old_ones = parts_of(array_of(before, "interfaces"), "interface");
    const auto new_ones = parts_of(array_of(after, "interfaces"), "interface");
    for (const auto& [name, old_one] : old_ones) {
        const auto same = new_ones.find(name);
        if (same == new_ones.end())
            changes.push_back({true, name, "is gone"});
        else
            compare_messages(*old_one, *same->second, changes);
    }
    for (const auto& [name, new_one] : new_ones)
        if (!old_ones.contains(name)) changes.push_back({false, name, "is new"});
    return changes;
}

}  // namespace posthorn::cli
