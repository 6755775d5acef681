#include "transport/nats/nats_rules.hpp"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "base/text/utf8.hpp"
#include "transport/broker/broker_answers.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::int64_t message_exceeds_maximum = 10054;
constexpr std::int64_t header_exceeds_maximum = 10097;
constexpr std::int64_t stream_store_failed = 10077;  // Full, and told to refuse what is new.
constexpr std::int64_t insufficient_resources = 10023;
constexpr std::int64_t account_resources_exceeded = 10002;
constexpr std::int64_t storage_resources_exceeded = 10047;
constexpr std::int64_t memory_resources_exceeded = 10028;

std::int64_t number_in(const json::object& from, std::string_view name) {
    const auto* const found = from.if_contains(name);
    return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

std::string text_in(const json::object& from, std::string_view name) {
    const auto* const found = from.if_contains(name);
    return found != nullptr && found->is_string() ? std::string(found->get_string())
                                                  : std::string();
}

delivery judge_error(const json::object& what, std::string_view subject) {
    const auto why = number_in(what, "err_code");
    const auto said =
        fmt::format("JetStream answers {} ({}) for '{}'",
                    clean_utf8(text_in(what, "description"), 500), why, clean_utf8(subject, 300));
    switch (why) {
        case message_exceeds_maximum:
        case header_exceeds_maximum: return broker_never_takes(error_code::message_too_large, said);
        case stream_store_failed:
        case insufficient_resources:
        case account_resources_exceeded:
        case storage_resources_exceeded:
        case memory_resources_exceeded: return broker_is_full(said);
        default: break;
    }
    constexpr std::int64_t servers_own = 500;  // A stream that is offline, for one.
    if (number_in(what, "code") >= servers_own) return broker_is_full(said);
    return {.what = outcome::transient, .error = said};
}

}  // namespace

delivery judge_nats_answer(const nats_answer& came, std::string_view subject) {
    if (came.no_responders)
        return broker_has_no_place(
            fmt::format("no stream takes the subject '{}'; add it to one, or correct the route",
                        clean_utf8(subject, 300)));
    boost::system::error_code wrong;
    const auto read = json::parse(came.body, wrong);
    const auto* const fields = wrong ? nullptr : read.if_object();
    if (fields == nullptr)
        return broker_is_silent("what answers there is not JetStream; correct the subject");
    if (const auto* const failed = fields->if_contains("error"); failed && failed->is_object())
        return judge_error(failed->get_object(), subject);
    if (text_in(*fields, "stream").empty() || number_in(*fields, "seq") < 1)
        return broker_is_silent("what answers there is not JetStream; correct the subject");
    const auto* const again = fields->if_contains("duplicate");
    return broker_has_it(again != nullptr && again->is_bool() && again->get_bool());
}

bool is_subject(std::string_view text) {
    const auto fits = [](char each) {
        return static_cast<unsigned char>(each) > ' ' && each != '\x7f' && each != '*' &&
               each != '>';
    };
    return !text.empty() && text.front() != '.' && text.back() != '.' &&
           text.find("..") == text.npos && std::ranges::all_of(text, fits);
}

std::optional<nats_place_in_stream> read_ack_subject(std::string_view subject) {
    std::vector<std::string_view> parts;
    for (const auto part : std::views::split(subject, '.'))
        parts.emplace_back(part.begin(), part.end());
    constexpr std::size_t plain = 9;
    constexpr std::size_t with_domain = 11;
    if (parts.size() < plain || parts[0] != "$JS" || parts[1] != "ACK") return std::nullopt;
    const std::size_t at = parts.size() >= with_domain ? 4 : 2;
    nats_place_in_stream place{.stream = std::string(parts[at])};
    const auto read = [](std::string_view text, std::uint64_t& into) {
        const auto [end, bad] = std::from_chars(text.begin(), text.end(), into);
        return bad == std::errc{} && end == text.end();
    };
    if (!read(parts[at + 2], place.deliveries) || !read(parts[at + 3], place.sequence))
        return std::nullopt;
    return place;
}

std::optional<pull_status> read_pull_status(std::string_view status, std::string_view unsent) {
    using enum pull_status::kind;
    if (status == "100") return pull_status{};
    if (status == "409" || status == "503") return pull_status{lost};
    if (status != "404" && status != "408") return std::nullopt;
    std::size_t number = 0;
    const auto [end, bad] = std::from_chars(unsent.begin(), unsent.end(), number);
    const bool is_told = !unsent.empty() && bad == std::errc{} && end == unsent.end();
    return pull_status{over, is_told ? std::optional(number) : std::nullopt};
}

}  // namespace posthorn
