#include "nodes/light.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t reasons_max = 20;
constexpr std::size_t reason_characters_max = 500;
constexpr std::size_t name_characters_max = 255;

node_light red(std::string why) { return {.reasons = {clean_utf8(why, reason_characters_max)}}; }

std::string text_of(const json::object& from, std::string_view name) {
    const auto* const value = from.if_contains(name);
    return value && value->is_string() ? clean_utf8(value->as_string(), name_characters_max) : "";
}

bool is_colour(std::string_view text) {
    return text == "green" || text == "yellow" || text == "red";
}

std::vector<std::string> reasons_in(const json::value* list) {
    std::vector<std::string> reasons;
    if (list == nullptr || !list->is_array()) return reasons;
    for (const auto& each : list->as_array())
        if (each.is_string() && reasons.size() < reasons_max)
            reasons.push_back(clean_utf8(each.as_string(), reason_characters_max));
    return reasons;
}

std::string without_digits(std::string_view text) {
    std::string rest(text);
    std::erase_if(rest, [](char each) { return each >= '0' && each <= '9'; });
    return rest;
}

/// So many rounds may fail to be written before the time is taken for a gap.
constexpr int rounds_missed_max = 3;

}  // namespace

node_light read_light(const result<http_response>& answer, bool with_key) {
    if (!answer) return red(fmt::format("does not answer: {}", answer.error().what()));
    if (answer->status == 401 || answer->status == 403)
        return red(with_key
                       ? "refuses the key that desk.nodes has for it; `posthorn keys admin new` "
                         "makes one, and its role viewer is enough"
                       : "asks for a key, and desk.nodes has none for it; add key = \"env:…\"");
    boost::system::error_code wrong;
    const auto body = json::parse(answer->body, wrong);
    const auto* const told = wrong ? nullptr : body.if_object();
    auto colour = told ? text_of(*told, "status") : "";
    const bool is_report = told && told->contains("working") && is_colour(colour) &&
                           (answer->status == 200 || answer->status == 503);
    if (!is_report)
        return red(
            fmt::format("answers with status {}, but not as a node does; is this its admin "
                        "address?",
                        answer->status));
    return {.colour = std::move(colour),
            .reasons = reasons_in(told->if_contains("reasons")),
            .answered = true,
            .service = text_of(*told, "service"),
            .version = text_of(*told, "version")};
}

bool goes_on(const light_span& last, const node_light& seen, wall_time now,
             std::chrono::milliseconds every) {
    return last.light.colour == seen.colour && last.light.answered == seen.answered &&
           is_fresh(last.asked, now, every) &&
           std::ranges::equal(last.light.reasons, seen.reasons, {}, without_digits, without_digits);
}

bool is_fresh(wall_time asked, wall_time now, std::chrono::milliseconds every) {
    // A round that ends late, as one does that waited for an answer, is not one that was missed.
    constexpr std::chrono::milliseconds late_max = std::chrono::minutes{1};
    return now - asked <= every * rounds_missed_max + late_max;
}

std::string encode_reasons(const std::vector<std::string>& reasons) {
    json::array list;
    for (const auto& each : reasons) list.emplace_back(each);
    return json::serialize(list);
}

std::vector<std::string> decode_reasons(std::string_view text) {
    boost::system::error_code wrong;
    const auto list = json::parse(text, wrong);
    return wrong ? std::vector<std::string>{} : reasons_in(&list);
}

}  // namespace posthorn
