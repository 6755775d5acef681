#include "centre/centre_relay.hpp"

#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/async/with_timeout.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t shown_max = 500;

result<json::object> read_answer(std::string_view payload) {
    boost::system::error_code wrong;
    auto read = json::parse(payload, wrong);
    if (wrong || !read.is_object())
        return fail(error_code::malformed_request, "its answer is not a JSON object");
    return std::move(read.as_object());
}

std::string text_of(const json::object& from, std::string_view name) {
    const auto* const said = from.if_contains(name);
    if (said == nullptr || !said->is_string()) return {};
    return clean_utf8(std::string_view(said->as_string()), shown_max);
}

std::int64_t number_of(const json::object& from, std::string_view name) {
    const auto* const said = from.if_contains(name);
    return said != nullptr && said->is_int64() ? said->as_int64() : 0;
}

void put_text(json::object& into, std::string_view name, std::string text) {
    if (!text.empty()) into[name] = text;
}

json::object parked_from_site(const json::object& row) {
    json::object shown{
        {"id", text_of(row, "MessageId")},           {"category", text_of(row, "Category")},
        {"target", text_of(row, "Target")},          {"retryCount", number_of(row, "RetryCount")},
        {"createdAt", text_of(row, "CreatedAtUtc")}, {"maxRetries", number_of(row, "MaxRetries")}};
    put_text(shown, "lastAttemptAt", text_of(row, "LastAttemptAtUtc"));
    put_text(shown, "lastError", text_of(row, "LastError"));
    put_text(shown, "originInstance", text_of(row, "OriginInstance"));
    return shown;
}

json::object parked_from_mirror(const site_call& row) {
    json::object shown{{"id", clean_utf8(row.id, shown_max)},
                       {"category", clean_utf8(row.kind, shown_max)},
                       {"target", clean_utf8(row.target, shown_max)},
                       {"retryCount", row.retry_count},
                       {"createdAt", clean_utf8(row.created_at, shown_max)}};
    put_text(shown, "lastError", clean_utf8(row.last_error, shown_max));
    put_text(shown, "originInstance", clean_utf8(row.source_instance, shown_max));
    return shown;
}

/// Why a site did not do what it was asked; of silence that it may have.
error refusal(const known_site& site, const delivery& answer) {
    const auto why = clean_utf8(answer.error, shown_max);
    if (answer.what == outcome::permanent)
        return {error_code::access_denied, fmt::format("{} refuses: {}", site.site, why)};
    if (answer.what == outcome::unanswered)
        return {error_code::unreachable,
                fmt::format("{} gave no answer, so it may or may not have been done; look again "
                            "with 'posthorn forward parked': {}",
                            site.site, why)};
    return {error_code::unreachable,
            fmt::format("{} cannot be asked, and nothing was changed: {}", site.site, why)};
}

task<result<delivery>> as_result(task<delivery> asked) { co_return co_await std::move(asked); }

}  // namespace

result<std::string> read_parked_answer(std::string_view payload, const std::string& site) {
    POSTHORN_LET(said, read_answer(payload));
    const auto* const rows = said.if_contains("Messages");
    if (rows == nullptr || !rows->is_array())
        return fail(error_code::malformed_request, "its answer has no Messages");
    json::array all;
    for (const auto& each : rows->as_array())
        if (each.is_object()) all.push_back(parked_from_site(each.as_object()));
    json::object shown{{"site", site}, {"mirror", false}};
    if (const auto next = number_of(said, "Next"); next > 0) shown["next"] = next;
    shown["messages"] = std::move(all);
    return json::serialize(shown);
}

result<std::string> read_change_answer(std::string_view payload, const uuid& id) {
    POSTHORN_LET(said, read_answer(payload));
    if (uuid::parse(text_of(said, "MessageId")) != id)
        return fail(error_code::malformed_request, "its answer is about another message");
    const auto* const done = said.if_contains("Success");
    if (done != nullptr && done->is_bool() && done->as_bool()) return std::string();
    auto why = text_of(said, "Error");
    return why.empty() ? std::string("it gives no reason") : std::move(why);
}

task<result<known_site>> centre_relay::find(std::string name) {
    std::optional<known_site> found;
    const auto done =
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(one, find_site(from, name));
            found = std::move(one);
            return {};
        });
    if (!done) co_return std::unexpected(done.error());
    co_return *std::move(found);
}

task<delivery> centre_relay::ask(std::string service, std::string endpoint, std::string payload) {
    auto answer = co_await with_timeout<delivery>(
        with_.env.timer, with_.timeout,
        as_result(with_.peers.ask({.service = std::move(service),
                                   .endpoint = std::move(endpoint),
                                   .payload = std::move(payload),
                                   .options = {.type = message_type::push_call}})));
    if (answer) co_return *std::move(answer);
    co_return delivery{.what = outcome::unanswered, .error = answer.error().what()};
}

task<http_response> centre_relay::parked(std::string site, parked_page page) {
    auto found = co_await find(std::move(site));
    if (!found) co_return answer_to_error(found.error());
    const auto answer = co_await ask(
        found->service, "ParkedMessageQueryRequest",
        json::serialize(json::object{{"PageSize", page.limit}, {"After", page.after}}));
    if (answer.what != outcome::delivered)
        co_return co_await mirrored(*std::move(found), page, answer.error);
    auto shown = read_parked_answer(answer.payload, found->site);
    if (!shown) co_return co_await mirrored(*std::move(found), page, shown.error().what());
    co_return json_response(200, *std::move(shown));
}

task<http_response> centre_relay::mirrored(known_site of, parked_page page, std::string why) {
    json::object shown{{"site", of.site}, {"mirror", true}};
    const auto done =
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(rows, read_site_calls(from, {.service = of.service,
                                                      .site = of.site,
                                                      .status = "Parked",
                                                      .after = page.after,
                                                      .limit = page.limit}));
            json::array all;
            for (const auto& each : rows) all.push_back(parked_from_mirror(each));
            if (std::cmp_equal(rows.size(), page.limit)) shown["next"] = rows.back().seq;
            shown["messages"] = std::move(all);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    shown["note"] = fmt::format(
        "{} does not answer; these are the calls that it last told its centre of, and its own "
        "table decides: {}",
        of.site, clean_utf8(why, shown_max));
    co_return json_response(200, json::serialize(shown));
}

task<http_response> centre_relay::act(std::string site, uuid id, parked_action what) {
    const bool retries = what == parked_action::retry;
    auto found = co_await find(std::move(site));
    if (!found) co_return answer_to_error(found.error());
    const auto answer = co_await ask(
        found->service, retries ? "ParkedMessageRetryRequest" : "ParkedMessageDiscardRequest",
        json::serialize(json::object{{"MessageId", id.to_string()}}));
    if (answer.what != outcome::delivered) co_return answer_to_error(refusal(*found, answer));
    const auto refused = read_change_answer(answer.payload, id);
    if (!refused)
        co_return answer_to_error(
            {error_code::unreachable,
             fmt::format("{} was asked, and {}", found->site, refused.error().what())});
    if (!refused->empty())
        co_return answer_to_error(
            {error_code::not_found,
             fmt::format("{} says of {}: {}", found->site, id.to_string(), *refused)});
    co_return json_response(
        200, json::serialize(
                 json::object{{"id", id.to_string()}, {retries ? "retried" : "discarded", true}}));
}

}  // namespace posthorn
