#include "forward/forward_routes.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <boost/json.hpp>

#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "forward/audit/audit_rows.hpp"
#include "forward/forward_rows.hpp"
#include "forward/parked_routes.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using place = feature_option::place;

constexpr std::int64_t page_max = 1000;

constexpr std::array held_shapes{
    named_shape{"HeldWork",
                "{seq: integer, id: string, category: string, target: string, status: string,"
                " retryCount: integer, maxRetries: integer, retryIntervalMs: integer,"
                " bytes: integer, createdAt: time, lastAttemptAt?: time, lastError?: string,"
                " originInstance?: string, executionId?: string, sourceScript?: string,"
                " parentExecutionId?: string}"}};

constexpr std::string_view tracked_shape =
    "{id: string, kind: string, target: string, status: string, retryCount: integer,"
    " createdAt: string, updatedAt: string, lastError?: string, httpStatus?: integer,"
    " endedAt?: string, sourceInstance?: string, sourceScript?: string, sourceNode?: string}";

http_response answer_with(const json::object& what) {
    return json_response(200, json::serialize(what));
}

std::string shown_time(std::int64_t ms) {
    return to_iso8601(wall_time{std::chrono::milliseconds(ms)});
}

void put(json::object& into, std::string_view key, const std::string& text) {
    if (!text.empty()) into[key] = clean_utf8(text, 4000);
}

json::object to_json(const held_work& one) {
    json::object shown{{"seq", one.seq},
                       {"id", clean_utf8(one.id, 200)},
                       {"category", clean_utf8(one.category, 200)},
                       {"target", clean_utf8(one.target, 200)},
                       {"status", one.parked ? "parked" : "waiting"},
                       {"retryCount", one.retry_count},
                       {"maxRetries", one.max_retries},
                       {"retryIntervalMs", one.retry_interval_ms},
                       {"bytes", one.bytes},
                       {"createdAt", shown_time(one.created_at)}};
    if (one.last_attempt_at) shown["lastAttemptAt"] = shown_time(*one.last_attempt_at);
    put(shown, "lastError", one.last_error);
    put(shown, "originInstance", one.origin_instance);
    put(shown, "executionId", one.execution_id);
    put(shown, "sourceScript", one.source_script);
    put(shown, "parentExecutionId", one.parent_execution_id);
    return shown;
}

json::object to_json(const tracked_operation& one) {
    json::object shown{{"id", one.id.to_string()},
                       {"kind", clean_utf8(one.kind, 200)},
                       {"target", clean_utf8(one.target, 200)},
                       {"status", clean_utf8(one.status, 200)},
                       {"retryCount", one.retry_count},
                       {"createdAt", clean_utf8(one.created_at, 200)},
                       {"updatedAt", clean_utf8(one.updated_at, 200)}};
    if (one.http_status) shown["httpStatus"] = *one.http_status;
    put(shown, "lastError", one.last_error);
    put(shown, "endedAt", one.ended_at);
    put(shown, "sourceInstance", one.source_instance);
    put(shown, "sourceScript", one.source_script);
    put(shown, "sourceNode", one.source_node);
    return shown;
}

std::optional<std::int64_t> read_count(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
    if (failure != std::errc{} || end != text.end() || number < 0) return std::nullopt;
    return number;
}

result<> read_parameter(std::string_view name, const std::string& value, held_filter& into) {
    const auto number = read_count(value);
    if (name == "status" && (value == "parked" || value == "waiting"))
        into.parked = value == "parked";
    else if (name == "category")
        into.category = value;
    else if (name == "limit" && number && *number >= 1 && *number <= page_max)
        into.limit = *number;
    else if (name == "after" && number)
        into.after = *number;
    else
        return fail(error_code::invalid_argument,
                    "'{}={}' cannot be asked for; there are status (waiting or parked), category, "
                    "limit (1 to {}) and after (the next of a page before)",
                    clean_utf8(name, 100), clean_utf8(value, 100), page_max);
    return {};
}

result<held_filter> read_query(std::string_view query) {
    held_filter asked;
    POSTHORN_TRY(for_each_parameter(query, [&](std::string_view name, const std::string& value) {
        return read_parameter(name, value, asked);
    }));
    return asked;
}

result<uuid> id_of(const http_request& request) {
    const auto& text = request.parameters.at("id");
    if (const auto id = uuid::parse(text)) return *id;
    return fail(error_code::invalid_argument,
                "'{}' is not the id of an operation; give 32 digits, with hyphens or without",
                clean_utf8(text, 100));
}

double rounded(double value) { return std::round(value * 10) / 10; }

void put_drain(json::object& into, const category_drain& how) {
    if (how.phase == replay_phase::live) return;
    into["phase"] = to_string(how.phase);
    if (how.rate > 0) into["replayRate"] = rounded(how.rate);
    if (how.drained) into["drainedPerSecond"] = rounded(*how.drained);
    if (how.left) into["secondsLeft"] = how.left->count();
}

task<http_response> replays(const forward_office& with) {
    json::array shown;
    if (with.keeper != nullptr)
        for (const auto& each : with.keeper->behind()) {
            json::object one{{"category", each.category},
                             {"target", clean_utf8(each.target, 200)},
                             {"phase", to_string(each.phase)}};
            if (each.rate > 0) one["replayRate"] = rounded(each.rate);
            shown.push_back(std::move(one));
        }
    co_return answer_with({{"targets", std::move(shown)}});
}

task<http_response> categories(const forward_office& with) {
    json::array shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(all, read_forward_totals(from));
            for (const auto& each : all) {
                json::object one{{"category", each.category},
                                 {"tracked", each.tracked},
                                 {"waiting", each.waiting},
                                 {"parked", each.parked},
                                 {"bytes", each.bytes}};
                if (each.oldest) one["oldestWaitingSince"] = shown_time(*each.oldest);
                if (with.keeper != nullptr) put_drain(one, with.keeper->drain_of(each.category));
                shown.push_back(std::move(one));
            }
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with({{"categories", std::move(shown)}});
}

task<http_response> list(const forward_office& with, http_request request) {
    const auto which = read_query(request.query);
    if (!which) co_return answer_to_error(which.error());
    json::object shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(page, read_held(from, *which));
            json::array all;
            for (const auto& each : page) all.push_back(to_json(each));
            if (page.size() == static_cast<std::size_t>(which->limit))
                shown["next"] = page.back().seq;
            shown["messages"] = std::move(all);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with(shown);
}

task<http_response> show(const forward_office& with, http_request request) {
    const auto id = id_of(request);
    if (!id) co_return answer_to_error(id.error());
    std::optional<held_work> found;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(one, find_held(from, *id));
            found = std::move(one);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    if (!found)
        co_return answer_to_error(
            {error_code::not_found,
             fmt::format("nothing is held under {}; it was delivered, discarded, or never stored",
                         id->to_string())});
    co_return answer_with(to_json(*found));
}

task<http_response> track(const forward_office& with, http_request request) {
    const auto id = id_of(request);
    if (!id) co_return answer_to_error(id.error());
    std::optional<tracked_operation> found;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(one, find_tracked(from, *id));
            found = std::move(one);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    if (!found)
        co_return answer_to_error(
            {error_code::not_found, fmt::format("no operation {} is tracked", id->to_string())});
    co_return answer_with(to_json(*found));
}

json::object to_json(const audited_attempt& one) {
    const auto& what = one.what;
    json::object shown{{"attempt", one.number},
                       {"channel", what.channel},
                       {"outcome", what.outcome},
                       {"retryCount", what.retry_count},
                       {"occurredAt", to_iso8601(what.occurred_at)},
                       {"durationMs", what.duration.count()}};
    if (what.http_status) shown["httpStatus"] = *what.http_status;
    put(shown, "lastError", what.last_error);
    put(shown, "sourceSite", what.source_site);
    put(shown, "sourceInstance", what.source_instance);
    put(shown, "executionId", what.execution_id);
    put(shown, "sourceScript", what.source_script);
    put(shown, "parentExecutionId", what.parent_execution_id);
    return shown;
}

task<http_response> attempts(const forward_office& with, http_request request) {
    constexpr std::int64_t attempts_max = 1000;
    const auto id = id_of(request);
    if (!id) co_return answer_to_error(id.error());
    json::array shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(all, read_audit(from, *id, attempts_max));
            shown.clear();
            for (const auto& each : all) shown.push_back(to_json(each));
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with({{"attempts", std::move(shown)}});
}

using change = result<bool> (*)(store_transaction&, const uuid&);

task<http_response> act(const forward_office& with, http_request request, change what,
                        std::string_view did) {
    const auto id = id_of(request);
    if (!id) co_return answer_to_error(id.error());
    const auto site = site_asked_for(request.query);
    if (!site) co_return answer_to_error(site.error());
    if (!site->empty())
        co_return co_await act_at_site(
            with, *site, *id, did == "retried" ? parked_action::retry : parked_action::discard);
    bool changed = false;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(some, what(tx, *id));
        changed = some;
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    if (!changed)
        co_return answer_to_error(
            {error_code::not_found,
             fmt::format("nothing is parked under {}; see 'posthorn forward list'",
                         id->to_string())});
    co_return answer_with({{"id", id->to_string()}, {did, true}});
}

constexpr feature_option which_one{
    .name = "id", .doc = "its id, with hyphens or without", .where = place::path};
constexpr std::array one_of_them{which_one};
constexpr feature_option at_site{.name = "site", .doc = "at this site, asked by its centre"};
constexpr std::array one_of_a_site{which_one, at_site};
constexpr std::array total_columns{feature_column{"CATEGORY", "category"},
                                   feature_column{"WAITING", "waiting"},
                                   feature_column{"PARKED", "parked"},
                                   feature_column{"BYTES", "bytes"},
                                   feature_column{"OLDEST", "oldestWaitingSince"},
                                   feature_column{"PHASE", "phase"},
                                   feature_column{"RATE", "replayRate"},
                                   feature_column{"DRAINED/S", "drainedPerSecond"},
                                   feature_column{"SECONDS LEFT", "secondsLeft"}};
constexpr std::array replay_columns{
    feature_column{"CATEGORY", "category"}, feature_column{"TARGET", "target"},
    feature_column{"PHASE", "phase"}, feature_column{"RATE", "replayRate"}};
constexpr std::array held_columns{feature_column{"ID", "id"},
                                  feature_column{"CATEGORY", "category"},
                                  feature_column{"TARGET", "target"},
                                  feature_column{"STATUS", "status"},
                                  feature_column{"RETRIES", "retryCount"},
                                  feature_column{"CREATED", "createdAt"},
                                  feature_column{"ERROR", "lastError"}};
constexpr std::array attempt_columns{
    feature_column{"ATTEMPT", "attempt"}, feature_column{"AT", "occurredAt"},
    feature_column{"OUTCOME", "outcome"}, feature_column{"MS", "durationMs"},
    feature_column{"HTTP", "httpStatus"}, feature_column{"RETRIES", "retryCount"},
    feature_column{"ERROR", "lastError"}};
constexpr std::array held_options{
    feature_option{.name = "status", .doc = "only these: waiting or parked"},
    feature_option{.name = "category", .doc = "only of this one"},
    feature_option{
        .name = "limit", .doc = "how many, at most 1000; 100 unless given", .number = true},
    feature_option{.name = "after", .doc = "the next page: what 'next' said", .number = true}};
constexpr std::array parked_columns{feature_column{"ID", "id"},
                                    feature_column{"CATEGORY", "category"},
                                    feature_column{"TARGET", "target"},
                                    feature_column{"RETRIES", "retryCount"},
                                    feature_column{"CREATED", "createdAt"},
                                    feature_column{"ERROR", "lastError"}};
constexpr std::array parked_options{
    at_site,
    feature_option{
        .name = "limit", .doc = "how many, at most 200; 100 unless given", .number = true},
    feature_option{.name = "after", .doc = "the next page: what 'next' said", .number = true}};
constexpr std::array commands{
    feature_command{.name = "stats",
                    .summary = "how much is held, by category",
                    .method = "GET",
                    .path = "/_rf/forward",
                    .list = "categories",
                    .columns = total_columns,
                    .example = "posthorn forward stats",
                    .in_stats = true},
    feature_command{.name = "replays",
                    .summary = "list targets that are out, or whose backlog is worked off",
                    .method = "GET",
                    .path = "/_rf/forward/replays",
                    .list = "targets",
                    .columns = replay_columns,
                    .example = "posthorn forward replays"},
    feature_command{.name = "list",
                    .summary = "list what waits or is parked, the oldest first",
                    .method = "GET",
                    .path = "/_rf/forward/messages",
                    .options = held_options,
                    .list = "messages",
                    .columns = held_columns,
                    .example = "posthorn forward list --status parked"},
    feature_command{.name = "parked",
                    .summary = "list what is parked, here or at a site",
                    .method = "GET",
                    .path = "/_rf/forward/parked",
                    .options = parked_options,
                    .list = "messages",
                    .columns = parked_columns,
                    .example = "posthorn forward parked --site 'plant 7'"},
    feature_command{.name = "show",
                    .summary = "show one of them",
                    .method = "GET",
                    .path = "/_rf/forward/messages/{id}",
                    .options = one_of_them,
                    .example = "posthorn forward show 018f3b1c7a2e4d5f8a9b0c1d2e3f4a5b"},
    feature_command{.name = "retry",
                    .summary = "let what is parked be tried again, with all its retries",
                    .method = "POST",
                    .path = "/_rf/forward/messages/{id}/retry",
                    .options = one_of_a_site,
                    .example = "posthorn forward retry 018f3b1c7a2e4d5f8a9b0c1d2e3f4a5b"},
    feature_command{.name = "discard",
                    .summary = "give up what is parked",
                    .method = "POST",
                    .path = "/_rf/forward/messages/{id}/discard",
                    .options = one_of_a_site,
                    .example = "posthorn forward discard 018f3b1c7a2e4d5f8a9b0c1d2e3f4a5b"},
    feature_command{.name = "track",
                    .summary = "show where a tracked operation stands",
                    .method = "GET",
                    .path = "/_rf/forward/tracking/{id}",
                    .options = one_of_them,
                    .example = "posthorn forward track 018f3b1c7a2e4d5f8a9b0c1d2e3f4a5b"},
    feature_command{.name = "attempts",
                    .summary = "list the attempts of a tracked operation, the latest first",
                    .method = "GET",
                    .path = "/_rf/forward/tracking/{id}/attempts",
                    .options = one_of_them,
                    .list = "attempts",
                    .columns = attempt_columns,
                    .example = "posthorn forward attempts 018f3b1c7a2e4d5f8a9b0c1d2e3f4a5b"},
};

}  // namespace

std::span<const feature_command> forward_commands() noexcept { return commands; }

std::vector<admin_route> forward_routes(const forward_office& with) {
    return {
        parked_route(with),
        {"GET",
         "/_rf/forward",
         admin_role::viewer,
         {.summary = "What is held for targets, by category.",
          .answer = "{categories: [{category: string, tracked: boolean, waiting: integer, parked:"
                    " integer, bytes: integer, oldestWaitingSince?: time, phase?: string,"
                    " replayRate?: number, drainedPerSecond?: number, secondsLeft?: integer}]}"},
         [&with](http_request /*request*/, admin_caller /*who*/) { return categories(with); }},
        {"GET",
         "/_rf/forward/replays",
         admin_role::viewer,
         {.summary = "Targets that are out, or whose backlog is worked off.",
          .answer = "{targets: [{category: string, target: string, phase: string,"
                    " replayRate?: number}]}"},
         [&with](http_request /*request*/, admin_caller /*who*/) { return replays(with); }},
        {"GET",
         "/_rf/forward/messages",
         admin_role::viewer,
         {.summary = "What waits for its target or is parked, the oldest first.",
          .answer = "{messages: [HeldWork], next?: integer}",
          .shapes = held_shapes},
         [&with](http_request request, admin_caller /*who*/) {
             return list(with, std::move(request));
         }},
        {"GET",
         "/_rf/forward/messages/{id}",
         admin_role::viewer,
         {.summary = "One of them.", .answer = "HeldWork", .shapes = held_shapes},
         [&with](http_request request, admin_caller /*who*/) {
             return show(with, std::move(request));
         }},
        {"POST",
         "/_rf/forward/messages/{id}/retry",
         admin_role::operator_,
         {.summary = "Lets what is parked be tried again, with all its retries.",
          .answer = "{id: string, retried: boolean}",
          .query = "{site?: string}"},
         [&with](http_request request, admin_caller /*who*/) {
             return act(with, std::move(request), &retry_parked, "retried");
         }},
        {"POST",
         "/_rf/forward/messages/{id}/discard",
         admin_role::operator_,
         {.summary = "Gives up what is parked.",
          .answer = "{id: string, discarded: boolean}",
          .query = "{site?: string}"},
         [&with](http_request request, admin_caller /*who*/) {
             return act(with, std::move(request), &discard_parked, "discarded");
         }},
        {"GET",
         "/_rf/forward/tracking/{id}",
         admin_role::viewer,
         {.summary = "Where a tracked operation stands.", .answer = tracked_shape},
         [&with](http_request request, admin_caller /*who*/) {
             return track(with, std::move(request));
         }},
        {"GET",
         "/_rf/forward/tracking/{id}/attempts",
         admin_role::viewer,
         {.summary = "Its attempts, the latest first.",
          .answer = "{attempts: [{attempt: integer, channel: string, outcome: string,"
                    " retryCount: integer, occurredAt: time, durationMs: integer,"
                    " httpStatus?: integer, lastError?: string, sourceSite?: string,"
                    " sourceInstance?: string, executionId?: string, sourceScript?: string,"
                    " parentExecutionId?: string}]}"},
         [&with](http_request request, admin_caller /*who*/) {
             return attempts(with, std::move(request));
         }},
    };
}

}  // namespace posthorn
