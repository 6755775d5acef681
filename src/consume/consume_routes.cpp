#include "consume/consume_routes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/base64.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "consume/consume_dead.hpp"
#include "feature/answers.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using place = feature_option::place;

constexpr std::int64_t page_max = 1000;

constexpr std::array shapes{
    named_shape{"ConsumeSource",
                "{name: string, broker: string, from: string, running: boolean,"
                " connected: boolean, apartSince?: time, trouble?: string, inHand: integer,"
                " processed: integer, duplicates: integer, retried: integer, putAside: integer,"
                " dead: integer}"},
    named_shape{"ConsumeDead",
                "{seq: integer, source: string, messageId: string, endpoint: string,"
                " reason: string, deliveries: integer, deadAt: time, payloadSize: integer,"
                " contentType?: string, correlationId?: string, address?: string,"
                " headers?: any, payload?: string, payloadIsBase64?: boolean}"}};

std::optional<std::int64_t> read_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
    if (failure != std::errc{} || end != text.end() || number < 0) return std::nullopt;
    return number;
}

result<std::int64_t> seq_of(const http_request& request) {
    const auto& text = request.parameters.at("seq");
    if (const auto seq = read_number(text)) return *seq;
    return fail(error_code::invalid_argument,
                "'{}' is not the seq of what was put aside; give a number", clean_utf8(text, 100));
}

result<> read_parameter(std::string_view name, const std::string& value,
                        consumed_dead_filter& into) {
    const auto number = read_number(value);
    if (name == "source")
        into.source = value;
    else if (name == "limit" && number && *number >= 1 && *number <= page_max)
        into.limit = *number;
    else if (name == "after" && number)
        into.after = *number;
    else
        return fail(error_code::invalid_argument,
                    "'{}={}' cannot be asked for; there are source, limit (1 to {}) and after (the "
                    "next of a page before)",
                    clean_utf8(name, 100), clean_utf8(value, 100), page_max);
    return {};
}

/// The queue or the stream; never the URL, which people may have written too much into.
std::string from_of(const consume_source& one) {
    for (const std::string_view name : {"queue", "stream"})
        if (const auto found = one.options.find(name); found != one.options.end())
            return clean_utf8(found->second, 255);
    return {};
}

json::object to_json(const consume_source& one, const consume_view* seen, std::int64_t dead) {
    json::object shown{{"name", one.name},
                       {"broker", one.kind->schemes.front()},
                       {"from", from_of(one)},
                       {"running", seen != nullptr}};
    const consume_view none;
    const auto& is = seen == nullptr ? none : *seen;
    shown["connected"] = is.link.connected;
    if (is.apart_since) shown["apartSince"] = to_iso8601(*is.apart_since);
    if (!is.link.trouble.empty()) shown["trouble"] = clean_utf8(is.link.trouble, 1000);
    shown["inHand"] = is.in_hand;
    shown["processed"] = is.counts.processed;
    shown["duplicates"] = is.counts.duplicates;
    shown["retried"] = is.counts.retried;
    shown["putAside"] = is.counts.put_aside;
    shown["dead"] = dead;
    return shown;
}

json::object to_json(const consumed_dead& one) {
    return {{"seq", one.seq},
            {"source", clean_utf8(one.source, 255)},
            {"messageId", clean_utf8(one.message_id, 2000)},
            {"endpoint", clean_utf8(one.endpoint, 2000)},
            {"reason", clean_utf8(one.reason, 2000)},
            {"deliveries", one.deliveries},
            {"deadAt", to_iso8601(one.dead_at)},
            {"payloadSize", one.payload_size}};
}

void show_whole(json::object& into, const broker_message& one) {
    const auto put = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) into[name] = clean_utf8(value, 2000);
    };
    put("contentType", one.content_type);
    put("correlationId", one.correlation_id);
    put("address", one.address);
    json::object headers;
    for (const auto& [name, value] : one.headers)
        headers[clean_utf8(name, 255)] = clean_utf8(value, 2000);
    if (!headers.empty()) into["headers"] = std::move(headers);
}

task<http_response> status(const consume_office& with) {
    std::vector<std::pair<std::string, std::int64_t>> dead;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(counted, count_put_aside(from));
            dead = std::move(counted);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    json::array shown;
    for (const auto& source : with.sources) {
        const auto runs = std::ranges::find_if(
            with.running, [&](const auto* each) { return each->source().name == source.name; });
        const auto count =
            std::ranges::find(dead, source.name, &std::pair<std::string, std::int64_t>::first);
        std::optional<consume_view> seen;
        if (runs != with.running.end()) seen = (*runs)->view();
        shown.push_back(
            to_json(source, seen ? &*seen : nullptr, count == dead.end() ? 0 : count->second));
    }
    co_return json_response(200, json::serialize(json::object{{"sources", std::move(shown)}}));
}

task<http_response> list(const consume_office& with, http_request request) {
    consumed_dead_filter which;
    const auto asked =
        for_each_parameter(request.query, [&](std::string_view name, const std::string& value) {
            return read_parameter(name, value, which);
        });
    if (!asked) co_return answer_to_error(asked.error());
    json::object shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(page, list_put_aside(from, which));
            json::array all;
            for (const auto& each : page) all.push_back(to_json(each));
            if (page.size() == static_cast<std::size_t>(which.limit))
                shown["next"] = page.back().seq;
            shown["messages"] = std::move(all);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200, json::serialize(shown));
}

task<result<consumed_dead>> find(const consume_office& with, std::int64_t seq) {
    std::optional<consumed_dead> found;
    POSTHORN_CO_TRY(
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(one, find_put_aside(from, seq));
            found = std::move(one);
            return {};
        }));
    if (!found)
        co_return fail(error_code::not_found,
                       "nothing that was put aside has the seq {}; see 'posthorn consume dead'",
                       seq);
    co_return *std::move(found);
}

task<http_response> show(const consume_office& with, http_request request, admin_caller who) {
    const auto seq = seq_of(request);
    if (!seq) co_return answer_to_error(seq.error());
    const auto found = co_await find(with, *seq);
    if (!found) co_return answer_to_error(found.error());
    auto shown = to_json(*found);
    show_whole(shown, found->whole->what);
    if (who.rights.payloads) {
        const auto& body = found->whole->what.body;
        const bool is_text = is_utf8(body);
        shown["payload"] = is_text ? body : encode_base64(body);
        shown["payloadIsBase64"] = !is_text;
    }
    co_return json_response(200, json::serialize(shown));
}

task<http_response> forget(const consume_office& with, std::int64_t seq, std::string_view word) {
    bool gone = false;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(forgotten, forget_put_aside(tx, seq));
        gone = forgotten;
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    if (!gone)
        co_return answer_to_error({error_code::state_changed, "another person ended it meanwhile"});
    co_return json_response(200, json::serialize(json::object{{word, true}}));
}

task<http_response> discard(const consume_office& with, http_request request) {
    const auto seq = seq_of(request);
    if (!seq) co_return answer_to_error(seq.error());
    co_return co_await forget(with, *seq, "discarded");
}

/// By the rules of its source as they are now. Without an id it is known by what it says.
std::expected<message, std::string> message_of(const consume_office& with,
                                               const consumed_dead& one) {
    const auto source = std::ranges::find(with.sources, one.source, &consume_source::name);
    if (source == with.sources.end())
        return std::unexpected(fmt::format(
            "[consume] has no source '{}' any more; add it, or discard this", one.source));
    auto rules = source->rules;
    if (one.whole->what.id.empty() && rules.id == consume_id::message) rules.id = consume_id::hash;
    return read_consumed(*one.whole, rules);
}

task<http_response> requeue(const consume_office& with, http_request request) {
    const auto seq = seq_of(request);
    if (!seq) co_return answer_to_error(seq.error());
    auto* const inbox = with.inbox ? with.inbox() : nullptr;
    if (inbox == nullptr)
        co_return answer_to_error({error_code::invalid_argument,
                                   "its handler is in the node, which has to run; ask it with "
                                   "--url"});
    const auto found = co_await find(with, *seq);
    if (!found) co_return answer_to_error(found.error());
    const auto made = message_of(with, *found);
    if (!made) co_return answer_to_error({error_code::state_changed, made.error()});
    const auto answers = co_await inbox->receive({&*made});
    if (answers.front().what != outcome::delivered)
        co_return answer_to_error({error_code::state_changed, answers.front().error});
    co_return co_await forget(with, *seq, "requeued");
}

constexpr std::array status_columns{
    feature_column{"SOURCE", "name"},      feature_column{"BROKER", "broker"},
    feature_column{"FROM", "from"},        feature_column{"CONNECTED", "connected"},
    feature_column{"IN HAND", "inHand"},   feature_column{"PROCESSED", "processed"},
    feature_column{"AGAIN", "duplicates"}, feature_column{"RETRIED", "retried"},
    feature_column{"DEAD", "dead"},        feature_column{"TROUBLE", "trouble"}};
constexpr std::array dead_columns{
    feature_column{"SEQ", "seq"},           feature_column{"SOURCE", "source"},
    feature_column{"MESSAGE", "messageId"}, feature_column{"ENDPOINT", "endpoint"},
    feature_column{"DEAD AT", "deadAt"},    feature_column{"REASON", "reason"}};
constexpr std::array dead_options{
    feature_option{.name = "source", .doc = "of that source alone"},
    feature_option{.name = "limit", .doc = "so many at most", .number = true},
    feature_option{.name = "after", .doc = "those behind that seq", .number = true}};
constexpr std::array seq_options{feature_option{
    .name = "seq", .doc = "its number in the list", .where = place::path, .number = true}};

constexpr std::array commands{
    feature_command{.name = "status",
                    .summary = "what is consumed, and whether the brokers are connected",
                    .method = "GET",
                    .path = "/_rf/consume",
                    .list = "sources",
                    .columns = status_columns,
                    .example = "posthorn consume status",
                    .in_stats = true},
    feature_command{.name = "dead",
                    .summary = "list what brokers gave and what took no effect",
                    .method = "GET",
                    .path = "/_rf/consume/dead",
                    .options = dead_options,
                    .list = "messages",
                    .columns = dead_columns,
                    .example = "posthorn consume dead --source orders"},
    feature_command{.name = "show",
                    .summary = "show one of them with all that is known of it",
                    .method = "GET",
                    .path = "/_rf/consume/dead/{seq}",
                    .options = seq_options,
                    .example = "posthorn consume show 17"},
    feature_command{.name = "requeue",
                    .summary = "give one to its handler again, in place of the broker",
                    .method = "POST",
                    .path = "/_rf/consume/dead/{seq}/requeue",
                    .options = seq_options,
                    .example = "posthorn consume requeue 17"},
    feature_command{.name = "discard",
                    .summary = "forget one for good",
                    .method = "POST",
                    .path = "/_rf/consume/dead/{seq}/discard",
                    .options = seq_options,
                    .example = "posthorn consume discard 17"},
};

}  // namespace

std::span<const feature_command> consume_commands() noexcept { return commands; }

std::vector<admin_route> consume_routes(const consume_office& with) {
    std::vector<admin_route> all;
    all.push_back({"GET",
                   "/_rf/consume",
                   admin_role::viewer,
                   {.summary = "What is consumed from brokers.",
                    .answer = "{sources: [ConsumeSource]}",
                    .shapes = shapes},
                   [&with](const http_request&, const admin_caller&) { return status(with); }});
    all.push_back({"GET",
                   "/_rf/consume/dead",
                   admin_role::viewer,
                   {.summary = "What brokers gave and what took no effect.",
                    .answer = "{messages: [ConsumeDead], next?: integer}",
                    .query = "{source?: string, limit?: integer, after?: integer}",
                    .shapes = shapes},
                   [&with](http_request request, const admin_caller&) {
                       return list(with, std::move(request));
                   }});
    all.push_back({"GET",
                   "/_rf/consume/dead/{seq}",
                   admin_role::viewer,
                   {.summary = "One of them; its payload for keys with that right.",
                    .answer = "ConsumeDead",
                    .shapes = shapes},
                   [&with](http_request request, admin_caller who) {
                       return show(with, std::move(request), std::move(who));
                   }});
    all.push_back({"POST",
                   "/_rf/consume/dead/{seq}/requeue",
                   admin_role::operator_,
                   {.summary = "Gives one to its handler again.", .answer = "{requeued: boolean}"},
                   [&with](http_request request, const admin_caller&) {
                       return requeue(with, std::move(request));
                   }});
    all.push_back({"POST",
                   "/_rf/consume/dead/{seq}/discard",
                   admin_role::operator_,
                   {.summary = "Forgets one for good.", .answer = "{discarded: boolean}"},
                   [&with](http_request request, const admin_caller&) {
                       return discard(with, std::move(request));
                   }});
    return all;
}

}  // namespace posthorn
