#include "admin/openapi.hpp"

#include <string>
#include <utility>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "base/assert.hpp"
#include "feature/shape.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

json::value schema(std::string_view shape) {
    auto made = schema_of(shape);
    POSTHORN_ASSERT(made);
    return *std::move(made);
}

json::object content(std::string_view media, std::string_view shape) {
    return {{media, json::object{{"schema", schema(shape)}}}};
}

json::object answer(const route_doc& doc) {
    return {{"description", doc.summary}, {"content", content(doc.media, doc.answer)}};
}

// `/_rf/outbox/{messageId}/retry` is `postOutboxByMessageIdRetry`.
std::string operation_id(std::string_view method, std::string_view path) {
    std::string id;
    for (const char each : method) id += static_cast<char>(each - 'A' + 'a');
    bool begins = true;
    for (const char each : path.substr(path.starts_with("/_rf/") ? 5 : 0)) {
        const bool is_small = each >= 'a' && each <= 'z';
        if (each == '{') id += "By";
        if (is_small || (each >= 'A' && each <= 'Z'))
            id += begins && is_small ? static_cast<char>(each - 'a' + 'A') : each;
        begins = !is_small && (each < 'A' || each > 'Z');
    }
    return id;
}

// The second segment, such as `outbox`.
std::string_view tag_of(std::string_view path) {
    path.remove_prefix(path.starts_with("/_rf/") ? 5 : 1);
    return path.substr(0, path.find_first_of("/."));
}

// What stands for `{name}` in the path.
json::array path_parameters(std::string_view path) {
    json::array all;
    for (auto begin = path.find('{'); begin != path.npos; begin = path.find('{', begin + 1)) {
        const auto name = path.substr(begin + 1, path.find('}', begin) - begin - 1);
        all.push_back(json::object{{"name", name},
                                   {"in", "path"},
                                   {"required", true},
                                   {"schema", schema(name == "seq" ? "integer" : "string")}});
    }
    return all;
}

// The fields of an object, each as a parameter of its own.
void add_parameters(json::array& to, std::string_view shape, std::string_view where) {
    if (shape.empty()) return;
    const auto fields = schema(shape);
    const auto* const required = fields.as_object().if_contains("required");
    for (const auto& field : fields.at("properties").as_object()) {
        json::object one{{"name", field.key()}, {"in", where}, {"schema", field.value()}};
        if (required != nullptr)
            for (const auto& name : required->as_array())
                if (name == field.key()) one["required"] = true;
        to.push_back(std::move(one));
    }
}

json::object operation(const admin_surface::described& one) {
    const auto& doc = one.doc;
    json::object shown{{"operationId", operation_id(one.method, one.path)},
                       {"summary", doc.summary},
                       {"tags", json::array{tag_of(one.path)}}};
    if (one.needs) shown["description"] = fmt::format("Needs the role {}.", to_string(*one.needs));
    auto parameters = path_parameters(one.path);
    add_parameters(parameters, doc.query, "query");
    add_parameters(parameters, doc.headers, "header");
    if (!parameters.empty()) shown["parameters"] = std::move(parameters);
    if (!doc.body.empty()) {
        const auto body = schema(doc.body);
        shown["requestBody"] = json::object{{"required", body.as_object().contains("required")},
                                            {"content", content("application/json", doc.body)}};
    }
    json::object responses{{"200", answer(doc)}};
    if (doc.also != 0) responses[std::to_string(doc.also)] = answer(doc);
    responses["default"] = json::object{{"$ref", "#/components/responses/Refusal"}};
    shown["responses"] = std::move(responses);
    if (one.open) shown["security"] = json::array{};
    return shown;
}

json::object schemas_of(const std::vector<admin_surface::described>& all) {
    json::object schemas{{"Refusal", schema("{error: string, message: string, field?: string}")}};
    for (const auto& one : all)
        for (const auto& [name, shape] : one.doc.shapes) schemas[name] = schema(shape);
    return schemas;
}

}  // namespace

json::object describe_routes(const std::vector<admin_surface::described>& all,
                             std::string_view version) {
    json::object paths;
    for (const auto& one : all) {
        auto& path = paths[one.path];
        if (!path.is_object()) path = json::object{};
        std::string method = one.method;
        for (auto& each : method) each = static_cast<char>(each - 'A' + 'a');
        path.as_object()[method] = operation(one);
    }
    const json::object refusal{
        {"description", "Why it was not done: a code, and words for a person."},
        {"content", content("application/json", "Refusal")}};
    const json::object by_key{{"type", "http"}, {"scheme", "bearer"}};
    const json::object by_session{{"type", "apiKey"},
                                  {"in", "cookie"},
                                  {"name", "posthorn_session"},
                                  {"description",
                                   "What POST /_rf/session sets; its name has a suffix of the "
                                   "node's own. Requests other than "
                                   "GET need the `csrf` of its answer in X-Posthorn-CSRF."}};
    return {{"openapi", "3.1.0"},
            {"info", json::object{{"title", "Posthorn's admin API"},
                                  {"version", version},
                                  {"license", json::object{{"name", "MIT"}}}}},
            {"servers", json::array{json::object{{"url", "/"}}}},
            {"security", json::array{json::object{{"key", json::array{}}},
                                     json::object{{"session", json::array{}}}}},
            {"paths", std::move(paths)},
            {"components", json::object{{"schemas", schemas_of(all)},
                                        {"responses", json::object{{"Refusal", refusal}}},
                                        {"securitySchemes",
                                         json::object{{"key", by_key}, {"session", by_session}}}}}};
}

}  // namespace posthorn
