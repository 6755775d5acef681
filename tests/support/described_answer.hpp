#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "transport/http/types.hpp"

/// Holds an answer of the admin listener against what its routes say of themselves in OpenAPI. Closed:
/// a field that is not described is a fault, though readers are told to expect more.
namespace posthorn::test {

class description_check {
public:
    explicit description_check(const boost::json::object& document) : document_(document) {}

    /// What is wrong with a value; empty if nothing is.
    [[nodiscard]] std::string fault(const boost::json::value& value,
                                    const boost::json::object& schema,
                                    const std::string& at) const {
        if (const auto* const to = schema.if_contains("$ref"))
            return fault(value, resolve(to->as_string()), at);
        if (const auto* const one = schema.if_contains("const"))
            return value == *one ? "" : at + " is " + boost::json::serialize(value);
        if (const auto* const any = schema.if_contains("anyOf")) {
            const auto& all = any->as_array();
            const bool fits = std::ranges::any_of(
                all, [&](const auto& each) { return fault(value, each.as_object(), at).empty(); });
            return fits ? "" : at + " fits none: " + boost::json::serialize(value);
        }
        if (schema.contains("allOf") || schema.contains("properties"))
            return object_fault(value, schema, at);
        const auto* const type = schema.if_contains("type");
        if (type == nullptr) return "";
        if (!is_of(value, type->as_string()))
            return at + " is no " + std::string(type->as_string());
        if (!value.is_array()) return "";
        for (const auto& each : value.as_array())
            if (auto wrong = fault(each, schema.at("items").as_object(), at + "[]"); !wrong.empty())
                return wrong;
        return "";
    }

private:
    [[nodiscard]] const boost::json::object& resolve(std::string_view reference) const {
        const auto name = reference.substr(reference.rfind('/') + 1);
        return document_.at("components").at("schemas").at(name).as_object();
    }
    static bool is_of(const boost::json::value& value, std::string_view type) {
        if (type == "string") return value.is_string();
        if (type == "integer") return value.is_int64() || value.is_uint64();
        if (type == "number") return value.is_number();
        if (type == "boolean") return value.is_bool();
        if (type == "null") return value.is_null();
        return type == "array" && value.is_array();
    }
    // All that an object may have and must have, from all of its parts.
    void gather(const boost::json::object& schema, boost::json::object& fields,
                boost::json::array& required) const {
        if (const auto* const to = schema.if_contains("$ref"))
            return gather(resolve(to->as_string()), fields, required);
        if (const auto* const parts = schema.if_contains("allOf"))
            for (const auto& each : parts->as_array()) gather(each.as_object(), fields, required);
        if (const auto* const own = schema.if_contains("properties"))
            for (const auto& each : own->as_object()) fields[each.key()] = each.value();
        if (const auto* const own = schema.if_contains("required"))
            for (const auto& each : own->as_array()) required.push_back(each);
    }
    [[nodiscard]] std::string object_fault(const boost::json::value& value,
                                           const boost::json::object& schema,
                                           const std::string& at) const {
        if (!value.is_object()) return at + " is not an object";
        boost::json::object fields;
        boost::json::array required;
        gather(schema, fields, required);
        for (const auto& name : required)
            if (!value.as_object().contains(name.as_string()))
                return at + " lacks " + std::string(name.as_string());
        for (const auto& each : value.as_object()) {
            const std::string name(each.key());
            if (!fields.contains(name)) return at + "." + name + " is not described";
            if (auto wrong = fault(each.value(), fields.at(name).as_object(), at + "." + name);
                !wrong.empty())
                return wrong;
        }
        return "";
    }

    const boost::json::object& document_;
};

/// Whether a path is one of the described, such as `/_rf/outbox/{messageId}`.
[[nodiscard]] inline bool fits_path(std::string_view pattern, std::string_view path) {
    while (!pattern.empty() && !path.empty()) {
        const auto want = pattern.substr(0, pattern.find('/', 1));
        const auto have = path.substr(0, path.find('/', 1));
        if (want != have && !want.starts_with("/{")) return false;
        pattern.remove_prefix(want.size());
        path.remove_prefix(have.size());
    }
    return pattern.empty() && path.empty();
}

/// The operation that answers; null if none is described.
[[nodiscard]] inline const boost::json::object* described_operation(
    const boost::json::object& document, std::string method, std::string_view path) {
    std::ranges::transform(method, method.begin(),
                           [](char c) { return static_cast<char>(c - 'A' + 'a'); });
    if (method == "head") method = "get";
    const auto& paths = document.at("paths").as_object();
    const auto in = [&](const boost::json::value& one) {
        const auto* const operation = one.as_object().if_contains(method);
        return operation ? &operation->as_object() : nullptr;
    };
    if (const auto* const exact = paths.if_contains(path))
        if (const auto* const operation = in(*exact)) return operation;
    for (const auto& each : paths)
        if (fits_path(each.key(), path))
            if (const auto* const operation = in(each.value())) return operation;
    return nullptr;
}

/// Empty where the answer is what the description says.
[[nodiscard]] inline std::string unlike_description(const boost::json::object& document,
                                                    const std::string& method,
                                                    const std::string& path,
                                                    const http_response& response) {
    const auto* const operation = described_operation(document, method, path);
    if (operation == nullptr)
        return response.status == 404 || response.status == 405 ? "" : path + " is not described";
    const auto& responses = operation->at("responses").as_object();
    const auto* answer = responses.if_contains(std::to_string(response.status));
    if (answer == nullptr) answer = &document.at("components").at("responses").at("Refusal");
    const auto& content = answer->at("content").as_object();
    const auto type = response.headers.find("Content-Type").value_or("");
    const auto* const media = content.if_contains(type.substr(0, type.find(';')));
    if (media == nullptr) return path + " answers " + std::string(type);
    if (!type.starts_with("application/json")) return "";
    boost::system::error_code wrong;
    const auto body = boost::json::parse(response.body, wrong);
    if (wrong) return path + " answers what is no JSON";
    return description_check(document).fault(body, media->at("schema").as_object(), path);
}

}  // namespace posthorn::test
