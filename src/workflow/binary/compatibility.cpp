#include "workflow/binary/compatibility.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

namespace posthorn {
namespace {

namespace json = boost::json;

/// Without what is for people.
void drop_titles(json::value& schema) {
    if (auto* const list = schema.if_array())
        for (auto& each : *list) drop_titles(each);
    auto* const object = schema.if_object();
    if (object == nullptr) return;
    // A field may have such a name, too: it then has a schema, which is not a text.
    constexpr std::array for_people{"$schema", "title", "description"};
    for (const auto* name : for_people)
        if (const auto* const found = object->if_contains(name); found && found->is_string())
            object->erase(name);
    for (auto& member : *object) drop_titles(member.value());
}

std::optional<json::value> meaning_of(const raw_json& schema) {
    boost::system::error_code wrong;
    auto read = json::parse(schema.text, wrong);
    if (wrong) return {};
    drop_titles(read);
    return read;
}

bool say_the_same(const raw_json& one, const raw_json& other) {
    if (one == other) return true;
    const auto first = meaning_of(one);
    const auto second = meaning_of(other);
    return first && second && *first == *second;
}

const offered_interface* find_offer(std::span<const offered_interface> offered,
                                    std::string_view interface) {
    const offered_interface* found = nullptr;
    for (const auto& each : offered)
        if (each.contract.interface == interface && (found == nullptr || !found->is_active))
            found = &each;
    return found;
}

std::optional<mismatch_kind> compare(const manifest_message& called,
                                     const manifest_service& offered) {
    const auto found =
        std::ranges::find(offered.messages, called.endpoint, &manifest_message::endpoint);
    if (found == offered.messages.end()) return mismatch_kind::lacks_message;
    if (!say_the_same(called.request, found->request)) return mismatch_kind::other_request;
    if (!say_the_same(called.response, found->response)) return mismatch_kind::other_response;
    return {};
}

}  // namespace

std::string_view to_string(mismatch_kind kind) noexcept {
    switch (kind) {
        case mismatch_kind::not_offered: return "not_offered";
        case mismatch_kind::not_active: return "not_active";
        case mismatch_kind::lacks_message: return "lacks_message";
        case mismatch_kind::other_request: return "other_request";
        case mismatch_kind::other_response: break;
    }
    return "other_response";
}

std::vector<interface_mismatch> find_mismatches(const binary_manifest& manifest,
                                                std::span<const offered_interface> offered) {
    std::vector<interface_mismatch> all;
    for (const auto& called : manifest.services) {
        const auto* const offer = find_offer(offered, called.interface);
        if (offer == nullptr || !offer->is_active) {
            all.push_back(
                {offer == nullptr ? mismatch_kind::not_offered : mismatch_kind::not_active,
                 called.interface,
                 {}});
            continue;
        }
        for (const auto& message : called.messages)
            if (const auto kind = compare(message, offer->contract))
                all.push_back({*kind, called.interface, message.endpoint});
    }
    return all;
}

std::string in_words(const interface_mismatch& one) {
    switch (one.kind) {
        case mismatch_kind::not_offered:
            return fmt::format("{} is offered by no service", one.interface);
        case mismatch_kind::not_active:
            return fmt::format("{} is offered by a service that is not active", one.interface);
        case mismatch_kind::lacks_message:
            return fmt::format("{} is not among the messages of {}", one.endpoint, one.interface);
        case mismatch_kind::other_request:
            return fmt::format("{} takes something else than the binary sends", one.endpoint);
        case mismatch_kind::other_response: break;
    }
    return fmt::format("{} answers something else than the binary reads", one.endpoint);
}

}  // namespace posthorn
