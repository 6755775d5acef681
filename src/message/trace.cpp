#include "message/trace.hpp"

#include <algorithm>
#include <utility>

#include <posthorn/error.hpp>
#include <posthorn/json/reader.hpp>
#include <posthorn/json/writer.hpp>

#include "message/fields.hpp"

namespace posthorn {
namespace {

constexpr std::string_view parent_name = "traceparent";
constexpr std::string_view state_name = "tracestate";
constexpr std::size_t state_size_max = 512;

bool is_lower_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool is_zero(char c) { return c == '0'; }

/// `00-` 32 digits `-` 16 digits `-` 2 digits, where neither id is all zeros.
bool is_traceparent(std::string_view text) {
    constexpr std::string_view form = "hh-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";
    if (text.size() != form.size() || text.starts_with("ff")) return false;
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == 'h' ? !is_lower_hex(text[i]) : text[i] != '-') return false;
    return !std::ranges::all_of(text.substr(3, 32), is_zero) &&
           !std::ranges::all_of(text.substr(36, 16), is_zero);
}

bool is_tracestate(std::string_view text) {
    return text.size() <= state_size_max &&
           std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

std::string text_of(json_reader& value) {
    const auto raw = value.document();
    std::string text;
    if (raw.starts_with('"'))
        json_reader::read(raw, [&](json_reader& inside) { text = inside.string(); });
    return text;
}

}  // namespace

trace_context trace_of(std::string_view headers) {
    trace_context found;
    if (headers.find(parent_name) == std::string_view::npos) return found;  // Most often.
    try {
        json_reader::read(headers, [&](json_reader& whole) {
            whole.members([&](std::string_view name, json_reader& value) {
                if (name == parent_name)
                    found.parent = text_of(value);
                else if (name == state_name)
                    found.state = text_of(value);
                else
                    static_cast<void>(value.document());
            });
        });
    } catch (const error&) {
        return {};  // It is not a trace; the message goes all the same.
    }
    if (!is_traceparent(found.parent)) return {};
    if (!is_tracestate(found.state)) found.state.clear();
    return found;
}

std::string carry_trace(std::string headers, std::string_view headers_of_cause,
                        std::size_t size_max) {
    const auto trace = trace_of(headers_of_cause);
    if (trace.parent.empty()) return headers;
    std::string made;
    json_writer writer(made);
    writer.open('{');
    try {
        bool has_own = false;
        if (!headers.empty())
            json_reader::read(headers, [&](json_reader& whole) {
                whole.members([&](std::string_view name, json_reader& value) {
                    has_own = has_own || name == parent_name || name == state_name;
                    writer.key(name);
                    made += trimmed(value.document());
                });
            });
        if (has_own) return headers;
    } catch (const error&) {
        return headers;  // To be refused for what they are.
    }
    writer.key(parent_name);
    writer.string(trace.parent);
    if (!trace.state.empty()) {
        writer.key(state_name);
        writer.string(trace.state);
    }
    writer.close('}');
    return made.size() > size_max ? headers : made;
}

}  // namespace posthorn
