#include "forward/forward_terms.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace posthorn {
namespace {

namespace json = boost::json;

void put_term(json::object& into, std::string_view key, const std::string& value) {
    if (!value.empty()) into[key] = value;
}

std::string text_of(const json::object& from, std::string_view key) {
    const auto* const found = from.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

std::int64_t number_of(const json::object& from, std::string_view key, std::int64_t fallback) {
    const auto* const found = from.if_contains(key);
    return found != nullptr && found->is_int64() ? found->as_int64() : fallback;
}

bool is_word_letter(char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           (each >= '0' && each <= '9') || each == '_' || each == '.' || each == '-';
}

}  // namespace

std::string forward_destination(const forward_place& to) {
    return fmt::format("{}{}/{}", forward_prefix, to.category, to.target);
}

std::optional<forward_place> forward_place_of(std::string_view destination) {
    if (!destination.starts_with(forward_prefix)) return std::nullopt;
    destination.remove_prefix(forward_prefix.size());
    const auto slash = destination.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    return forward_place{destination.substr(0, slash), destination.substr(slash + 1)};
}

bool is_forward_category(std::string_view name) noexcept {
    return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, is_word_letter);
}

std::string write_forward_terms(const forward_terms& terms) {
    json::object sf{{"interval", terms.interval.count()}};
    if (terms.attempts_first) sf["now"] = 1;
    put_term(sf, "origin", terms.origin_instance);
    put_term(sf, "execution", terms.execution_id);
    put_term(sf, "script", terms.source_script);
    put_term(sf, "parent", terms.parent_execution_id);
    return json::serialize(json::object{{"sf", std::move(sf)}});
}

forward_terms read_forward_terms(std::string_view headers) {
    forward_terms terms;
    boost::system::error_code wrong;
    const auto all = json::parse(headers.empty() ? std::string_view("{}") : headers, wrong);
    const auto* const object = wrong ? nullptr : all.if_object();
    const auto* const sf = object != nullptr ? object->if_contains("sf") : nullptr;
    if (sf == nullptr || !sf->is_object()) return terms;
    const auto& said = sf->as_object();
    constexpr std::int64_t longest = std::chrono::milliseconds(std::chrono::days{366}).count();
    terms.interval = std::chrono::milliseconds(
        std::clamp<std::int64_t>(number_of(said, "interval", terms.interval.count()), 1, longest));
    terms.attempts_first = number_of(said, "now", 0) != 0;
    terms.origin_instance = text_of(said, "origin");
    terms.execution_id = text_of(said, "execution");
    terms.source_script = text_of(said, "script");
    terms.parent_execution_id = text_of(said, "parent");
    return terms;
}

}  // namespace posthorn
