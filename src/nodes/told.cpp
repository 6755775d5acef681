#include "nodes/told.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t text_characters_max = 1024;

std::string cleaned(std::string_view text) { return clean_utf8(text, text_characters_max); }

const json::value* field(const json::value& from, std::string_view name) {
    const auto* const fields = from.if_object();
    return fields != nullptr ? fields->if_contains(name) : nullptr;
}

std::string why_refused(const http_response& answer, const json::value& body) {
    if (answer.status == 401 || answer.status == 403)
        return "it refuses the key that desk.nodes has for it";
    const auto* const said = field(body, "message");
    if (said != nullptr && said->is_string() && !said->get_string().empty())
        return cleaned(said->get_string());
    return not_as_a_node(answer);
}

}  // namespace

std::string not_as_a_node(const http_response& answer) {
    return fmt::format("it answered with status {}, but not as a node does", answer.status);
}

told read_told(const result<http_response>& answer) {
    if (!answer) return {.why = cleaned(answer.error().what())};
    boost::system::error_code wrong;
    auto body = json::parse(answer->body, wrong);
    if (wrong) body = nullptr;
    // A node that does not have a message answers so; other servers have other words for 404.
    const auto* const code = field(body, "error");
    if (answer->status == 404 && code != nullptr && *code == "not_found") return {.has_none = true};
    if (answer->status != 200) return {.why = why_refused(*answer, body)};
    if (!body.is_object()) return {.why = not_as_a_node(*answer)};
    return {.body = std::move(body.get_object())};
}

json::object texts_of(const json::value& from, wanted_texts wanted) {
    json::object texts;
    for (const auto& some : {wanted.needed, wanted.more})
        for (const auto name : some) {
            const auto* const value = field(from, name);
            if (value != nullptr && value->is_string()) texts[name] = cleaned(value->get_string());
        }
    for (const auto name : wanted.needed)
        if (!texts.contains(name)) return {};
    return texts;
}

}  // namespace posthorn
