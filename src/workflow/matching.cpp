#include "workflow/matching.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include <posthorn/json/decode.hpp>
#include <posthorn/json/encode.hpp>
#include <posthorn/json/reader.hpp>
#include <posthorn/json/time.hpp>
#include <posthorn/json/writer.hpp>

#include "security/digest.hpp"
#include "security/hex.hpp"

namespace posthorn {
namespace {

using detail::match_operator;
using detail::match_term;
using detail::match_type;

constexpr std::array<std::string_view, 8> type_names{"text",    "integer", "natural", "number",
                                                     "boolean", "id",      "time",    "duration"};
constexpr std::array<std::string_view, 6> operator_names{"==", "!=", "<", "<=", ">", ">="};
constexpr std::size_t key_bytes_max = 200;

template <class Enum, std::size_t Count>
std::optional<Enum> named(const std::array<std::string_view, Count>& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return {};
    return static_cast<Enum>(found - names.begin());
}

/// A value of a signal in the one form in which it is compared; throws if it is of another type.
std::string canonical(json_reader& from, match_type type) {
    switch (type) {
        case match_type::text: return encode(std::string(from.string()));
        case match_type::integer: return encode(from.integer());
        case match_type::natural: return encode(from.natural());
        case match_type::number: return encode(from.real());
        case match_type::boolean: return encode(from.boolean());
        case match_type::id:
            if (const auto id = uuid::parse(from.string())) return encode(*id);
            break;
        case match_type::time:
            if (const auto span = parse_time_text(from.string()))
                if (const auto text = to_time_text(*span)) return encode(*text);
            break;
        case match_type::duration:
            if (const auto span = parse_duration_text(from.string()))
                return encode(to_duration_text(*span));
            break;
    }
    from.fail("is of another type than what it is compared with");
}

std::partial_ordering order(json_span left, json_span right) {
    if (left.seconds != right.seconds) return left.seconds <=> right.seconds;
    return left.nanoseconds <=> right.nanoseconds;
}

/// Of two values in canonical form.
std::partial_ordering compare(match_type type, std::string_view left, std::string_view right) {
    const auto text = [](std::string_view json) { return decode<std::string>(json); };
    switch (type) {
        case match_type::integer: return decode<std::int64_t>(left) <=> decode<std::int64_t>(right);
        case match_type::natural:
            return decode<std::uint64_t>(left) <=> decode<std::uint64_t>(right);
        case match_type::number: return decode<double>(left) <=> decode<double>(right);
        case match_type::time:
            return order(*parse_time_text(text(left)), *parse_time_text(text(right)));
        case match_type::duration:
            return order(*parse_duration_text(text(left)), *parse_duration_text(text(right)));
        case match_type::text:
        case match_type::id:
        case match_type::boolean: break;
    }
    return text(left) <=> text(right);
}

bool holds(const match_term& term, std::string_view value) {
    if (term.op == match_operator::equal) return value == term.value;
    if (term.op == match_operator::unequal) return value != term.value;
    const auto ordering = compare(term.type, value, term.value);
    switch (term.op) {
        case match_operator::less: return ordering < 0;
        case match_operator::at_most: return ordering <= 0;
        case match_operator::greater: return ordering > 0;
        case match_operator::at_least: return ordering >= 0;
        case match_operator::equal:
        case match_operator::unequal: break;
    }
    return false;
}

/// Values of a key, each after its length, so that no two lists make the same text.
std::string joined(const std::vector<std::string>& values) {
    std::string key;
    for (const auto& value : values)
        fmt::format_to(std::back_inserter(key), "{}:{}", value.size(), value);
    if (key.size() <= key_bytes_max) return key;
    sha256 digest;
    digest.add(key);
    return "sha256:" + to_hex(digest.finish());
}

struct shape_field {
    std::string_view name;
    match_type type{};
};

std::optional<std::vector<shape_field>> parse_shape(std::string_view shape) {
    std::vector<shape_field> fields;
    while (!shape.empty()) {
        const auto end = std::min(shape.find(','), shape.size());
        const auto field = shape.substr(0, end);
        shape.remove_prefix(std::min(end + 1, shape.size()));
        const auto colon = field.rfind(':');
        if (colon == std::string_view::npos) return {};
        const auto type = named<match_type>(type_names, field.substr(colon + 1));
        if (!type) return {};
        fields.push_back({field.substr(0, colon), *type});
    }
    return fields;
}

}  // namespace

void detail::encode_terms(std::string& to, const std::vector<match_term>& terms) {
    json_writer json(to);
    json.open('[');
    for (const auto& term : terms) {
        json.element();
        json.open('[');
        json.string(term.field);
        json.element();
        json.string(operator_names[static_cast<std::size_t>(term.op)]);
        json.element();
        json.string(type_names[static_cast<std::size_t>(term.type)]);
        json.element();
        to += term.value;
        json.close(']');
    }
    json.close(']');
}

result<match_terms> parse_terms(std::string_view text) {
    match_terms terms;
    auto read_term = [&](json_reader& from) {
        auto& term = terms.emplace_back();
        std::size_t part = 0;
        from.elements([&](json_reader& each) {
            switch (part++) {
                case 0: term.field = each.string(); break;
                case 1:
                    if (const auto op = named<match_operator>(operator_names, each.string()))
                        term.op = *op;
                    else
                        each.fail("is not a comparison");
                    break;
                case 2:
                    if (const auto type = named<match_type>(type_names, each.string()))
                        term.type = *type;
                    else
                        each.fail("is not a type");
                    break;
                case 3: term.value = canonical(each, term.type); break;
                default: each.fail("is one part too many");
            }
        });
        if (part != 4) from.fail("is not a comparison of four parts");
    };
    try {
        json_reader::read(text, [&](json_reader& all) { all.elements(read_term); });
    } catch (const error& damaged) {
        return std::unexpected(damaged);
    }
    return terms;
}

match_key key_of(const match_terms& terms) {
    match_key made;
    std::vector<const match_term*> equalities;
    for (const auto& term : terms) {
        const auto is_of_field = [&](const auto* each) { return each->field == term.field; };
        if (term.op == match_operator::equal && std::ranges::none_of(equalities, is_of_field))
            equalities.push_back(&term);
        else
            made.filter.push_back(term);
    }
    std::ranges::sort(equalities, {}, [](const auto* each) -> const auto& { return each->field; });
    std::vector<std::string> values;
    for (const auto* each : equalities) {
        if (!made.shape.empty()) made.shape += ',';
        made.shape.append(each->field)
            .append(":")
            .append(type_names[static_cast<std::size_t>(each->type)]);
        values.push_back(each->value);
    }
    made.key = joined(values);
    return made;
}

std::optional<std::string> key_in(std::string_view shape, std::string_view payload) {
    const auto fields = parse_shape(shape);
    if (!fields) return {};
    std::vector<std::string> values(fields->size());
    try {
        json_reader::read(payload, [&](json_reader& from) {
            from.members([&](std::string_view name, json_reader& value) {
                const auto found = std::ranges::find(*fields, name, &shape_field::name);
                if (found == fields->end()) return value.skip();
                values[static_cast<std::size_t>(found - fields->begin())] =
                    canonical(value, found->type);
            });
        });
    } catch (const error&) {
        return {};  // Not what the waits are for.
    }
    if (std::ranges::any_of(values, &std::string::empty)) return {};
    return joined(values);
}

bool passes(const match_terms& filter, std::string_view payload) {
    if (filter.empty()) return true;
    std::size_t held = 0;
    try {
        json_reader::read(payload, [&](json_reader& from) {
            from.members([&](std::string_view name, json_reader& value) {
                std::string found;
                for (const auto& term : filter) {
                    if (term.field != name) continue;
                    if (found.empty()) found = canonical(value, term.type);
                    if (holds(term, found)) ++held;
                }
                if (found.empty()) value.skip();
            });
        });
    } catch (const error&) {
        return false;
    }
    return held == filter.size();
}

std::string in_words(std::string_view signal, const match_terms& terms) {
    std::string words(signal);
    for (const auto& term : terms)
        fmt::format_to(std::back_inserter(words), "{} {} {} {}",
                       &term == terms.data() ? " where" : " and", term.field,
                       operator_names[static_cast<std::size_t>(term.op)], term.value);
    return words;
}

}  // namespace posthorn
