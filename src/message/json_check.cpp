#include "message/json_check.hpp"

#include <algorithm>

#include <boost/json/basic_parser_impl.hpp>

namespace posthorn {
namespace {

namespace json = boost::json;

/// Takes note of nothing: the parser's own checks are all that is wanted.
struct ignore_all {
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);

    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }
    bool on_array_begin(json::error_code&) { return true; }
    bool on_array_end(std::size_t, json::error_code&) { return true; }
    bool on_object_begin(json::error_code&) { return true; }
    bool on_object_end(std::size_t, json::error_code&) { return true; }
    bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_string(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_key_part(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_key(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_number_part(json::string_view, json::error_code&) { return true; }
    bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
    bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
    bool on_double(double, json::string_view, json::error_code&) { return true; }
    bool on_bool(bool, json::error_code&) { return true; }
    bool on_null(json::error_code&) { return true; }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }
};

std::size_t skip_spaces(std::string_view text, std::size_t from) {
    const auto found = text.find_first_not_of(" \t\r\n", from);
    return found == std::string_view::npos ? text.size() : found;
}

}  // namespace

result<> check_json(std::string_view text, json_kind kind, json_nesting nesting) {
    const auto start = skip_spaces(text, 0);
    if (start == text.size()) return fail(error_code::invalid_payload, "there is no JSON in it");
    if (kind == json_kind::object && text[start] != '{')
        return fail(error_code::invalid_payload, "it is not a JSON object");

    json::parse_options options;
    options.max_depth = nesting.depth_max - std::min(nesting.inside, nesting.depth_max);
    json::basic_parser<ignore_all> parser(options);
    json::error_code why;
    auto end = parser.write_some(false, text.data(), text.size(), why);
    if (!why) end = skip_spaces(text, end);
    if (!why && end != text.size()) why = json::error::extra_data;
    if (why == json::error::too_deep)
        return fail(error_code::invalid_payload,
                    "it is nested deeper than {} levels (limits.depth)", nesting.depth_max);
    if (why)
        return fail(error_code::invalid_payload, "it is not JSON from byte {} on: {}", end,
                    why.message());
    return {};
}

}  // namespace posthorn
