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

// As `put_trace` begins.
constexpr std::string_view quick_head = R"({"traceparent":")";

bool is_traceparent(std::string_view text) {
    return text.size() == traceparent_size && parse_traceparent(text).has_value();
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

std::optional<span_context> span_of(std::string_view headers) {
    if (headers.starts_with(quick_head)) {
        const auto rest = headers.substr(quick_head.size());
        if (rest.size() > traceparent_size && rest[traceparent_size] == '"')
            return parse_traceparent(rest.substr(0, traceparent_size));
    }
    return parse_traceparent(trace_of(headers).parent);
}

std::optional<std::string> put_trace(std::string_view headers, const span_context& from,
                                     std::string_view state, std::size_t size_max) {
    std::string made(quick_head);
    made += to_traceparent(from);
    made += '"';
    if (!state.empty()) {
        made += ",\"tracestate\":";
        json_writer(made).string(state);
    }
    try {
        if (!headers.empty())
            json_reader::read(headers, [&](json_reader& whole) {
                whole.members([&](std::string_view name, json_reader& value) {
                    const auto text = trimmed(value.document());
                    if (name == parent_name || name == state_name) return;
                    made += ',';
                    json_writer(made).string(name);
                    made += ':';
                    made += text;
                });
            });
    } catch (const error&) {
        return std::nullopt;  // To be refused for what they are.
    }
    made += '}';
    if (made.size() > size_max) return std::nullopt;
    return made;
}

bool change_span(std::string& headers, const span_context& to) {
    const auto at = quick_head.size();
    if (headers.starts_with(quick_head) && headers.size() > at + traceparent_size &&
        headers[at + traceparent_size] == '"') {
        headers.replace(at, traceparent_size, to_traceparent(to));
        return true;
    }
    auto made = put_trace(headers, to, trace_of(headers).state, headers.max_size());
    if (made) headers = *std::move(made);
    return made.has_value();
}

}  // namespace posthorn
