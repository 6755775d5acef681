#include "feature/shape.hpp"

#include <array>
#include <string>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace posthorn {
namespace {

namespace json = boost::json;

bool is_letter(char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           (each >= '0' && each <= '9') || each == '_' || each == '-';
}

json::object reference(std::string_view name) {
    return {{"$ref", fmt::format("#/components/schemas/{}", name)}};
}

/// Reads a shape from its beginning to its end.
class shape_reader {
public:
    explicit shape_reader(std::string_view text) : text_(text) {}

    result<json::value> read() {
        POSTHORN_LET(all, either());
        if (!peek()) return all;
        return wrong("nothing more");
    }

private:
    char peek() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char wanted) {
        if (peek() != wanted) return false;
        ++at_;
        return true;
    }
    [[nodiscard]] std::unexpected<error> wrong(std::string_view wanted) const {
        return fail(error_code::invalid_argument, "the shape '{}' wants {} at '{}'", text_, wanted,
                    text_.substr(at_));
    }
    std::string_view word() {
        peek();
        const auto begin = at_;
        while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    result<json::value> either() {
        POSTHORN_LET(first, one());
        if (peek() != '|') return first;
        json::array all{std::move(first)};
        while (take('|')) {
            POSTHORN_LET(next, one());
            all.push_back(std::move(next));
        }
        return json::object{{"anyOf", std::move(all)}};
    }

    result<json::value> one() {
        if (take('[')) {
            POSTHORN_LET(items, either());
            if (!take(']')) return wrong("]");
            return json::object{{"type", "array"}, {"items", std::move(items)}};
        }
        if (take('{')) return object();
        if (take('\'')) {
            const auto end = text_.find('\'', at_);
            if (end == text_.npos) return wrong("a closing '");
            json::string text(text_.substr(at_, end - at_));
            at_ = end + 1;
            return json::object{{"const", std::move(text)}};
        }
        return named(word());
    }

    result<json::value> named(std::string_view name) {
        constexpr std::array<std::string_view, 5> types{"string", "integer", "number", "boolean",
                                                        "null"};
        for (const auto type : types)
            if (type == name) return json::object{{"type", type}};
        if (name == "any") return json::object{};
        if (name == "time") return json::object{{"type", "string"}, {"format", "date-time"}};
        if (name == "uuid") return json::object{{"type", "string"}, {"format", "uuid"}};
        if (!name.empty() && name.front() >= 'A' && name.front() <= 'Z') return reference(name);
        return wrong("a type");
    }

    result<json::value> object() {
        json::object fields;
        json::array required;
        json::array also;
        while (!take('}')) {
            if (peek() == '.') {
                const auto dots = text_.substr(at_, 3);
                at_ += dots.size();
                const auto name = word();
                if (dots != "..." || name.empty()) return wrong("...Name");
                also.emplace_back(reference(name));
            } else {
                POSTHORN_TRY(field(fields, required));
            }
            if (!take(',') && peek() != '}') return wrong(", or }");
        }
        json::object made{{"type", "object"}, {"properties", std::move(fields)}};
        if (!required.empty()) made["required"] = std::move(required);
        if (also.empty()) return made;
        also.push_back(std::move(made));
        return json::object{{"allOf", std::move(also)}};
    }

    result<> field(json::object& fields, json::array& required) {
        const auto name = word();
        if (name.empty()) return wrong("a field's name");
        const bool optional = take('?');
        if (!take(':')) return wrong(":");
        peek();
        if (text_.substr(at_).starts_with("count")) {
            at_ += std::string_view("count").size();
            fields[name] = json::object{{"type", "integer"}};
            fields[std::string(name) + "AtLeast"] = json::object{{"type", "boolean"}};
        } else {
            POSTHORN_LET(type, either());
            fields[name] = std::move(type);
        }
        if (!optional) required.emplace_back(name);
        return {};
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

result<json::value> schema_of(std::string_view shape) { return shape_reader(shape).read(); }

}  // namespace posthorn
