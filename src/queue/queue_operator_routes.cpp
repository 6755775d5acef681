#include <charconv>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <posthorn/detail/time.hpp>

#include "base/async/run_on.hpp"
#include "base/text/base64.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "queue/queue_routes.hpp"
#include "queue/queue_view.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::int64_t page_max = 1000;

std::optional<std::int64_t> read_positive(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
    if (failure != std::errc{} || end != text.end() || number < 1) return std::nullopt;
    return number;
}

result<std::int64_t> seq_of(const http_request& request) {
    const auto& text = request.parameters.at("seq");
    if (const auto seq = read_positive(text)) return *seq;
    return fail(error_code::invalid_argument, "'{}' is not the seq of a job; give a number",
                clean_utf8(text, 100));
}

struct job_query {
    job_filter filter{};
    bool payload = false;
};

result<> read_parameter(std::string_view name, const std::string& value, job_query& into) {
    const auto number = read_positive(value);
    if (name == "endpoint")
        into.filter.endpoint = value;
    else if (name == "state" && parse_job_state(value))
        into.filter.state = parse_job_state(value);
    else if (name == "limit" && number && *number <= page_max)
        into.filter.limit = *number;
    else if (name == "after" && number)
        into.filter.after = *number;
    else if (name == "payload" && (value == "true" || value == "false"))
        into.payload = value == "true";
    else
        return fail(error_code::invalid_argument,
                    "'{}={}' cannot be asked for; there are endpoint, state (waiting, taken or "
                    "given-up), limit (1 to {}), after (the next of a page before) and payload "
                    "(true)",
                    clean_utf8(name, 100), clean_utf8(value, 100), page_max);
    return {};
}

result<job_query> read_query(std::string_view query) {
    job_query asked;
    POSTHORN_TRY(for_each_parameter(query, [&](std::string_view name, const std::string& value) {
        return read_parameter(name, value, asked);
    }));
    return asked;
}

/// A field of the body that holds text; empty if there is none.
result<std::string> read_text(const std::string& body, std::string_view name) {
    if (body.empty()) return std::string{};
    boost::system::error_code wrong;
    const auto read = json::parse(body, wrong);
    const auto* const fields = wrong ? nullptr : read.if_object();
    if (fields == nullptr)
        return fail(error_code::malformed_request, "the body is not a JSON object");
    for (const auto& [key, value] : *fields)
        if (key != name || !value.is_string())
            return fail(error_code::invalid_argument,
                        "the body takes {}, as text, and nothing else", name);
    const auto* const found = fields->if_contains(name);
    return found == nullptr ? std::string{} : std::string(found->as_string());
}

json::object to_json(const queue_numbers& one, wall_time now) {
    json::object shown{{"endpoint", clean_utf8(one.endpoint, 2000)},
                       {"waiting", one.waiting},
                       {"taken", one.taken},
                       {"workers", one.workers},
                       {"givenUp", one.given_up},
                       {"parked", one.parked},
                       {"attemptsMax", one.attempts_max}};
    if (one.oldest_waiting) {
        shown["oldestWaitingSince"] = to_iso8601(*one.oldest_waiting);
        shown["oldestWaitingSeconds"] =
            std::chrono::floor<std::chrono::seconds>(now - *one.oldest_waiting).count();
    }
    return shown;
}

void set(json::object& into, std::string_view name, const std::string& value) {
    if (!value.empty()) into[name] = value;
}

void set(json::object& into, std::string_view name, const std::optional<wall_time>& value) {
    if (value) into[name] = to_iso8601(*value);
}

json::object to_json(const queue_job& one) {
    json::object shown{{"seq", one.seq},
                       {"state", to_string(one.state)},
                       {"endpoint", one.endpoint},
                       {"messageId", one.message_id},
                       {"sourceServiceId", one.source},
                       {"messageType", one.message_type},
                       {"receivedAt", to_iso8601(one.received_at)},
                       {"attempts", one.attempts}};
    set(shown, "takenBy", one.taken_by);
    set(shown, "freeAt", one.free_at);
    set(shown, "givenUpAt", one.given_up_at);
    set(shown, "error", one.error);
    if (one.waits_behind)
        shown["waitsBehind"] =
            json::object{{"seq", one.waits_behind->seq},
                         {"messageId", one.waits_behind->message_id},
                         {"givenUpAt", to_iso8601(one.waits_behind->given_up_at)}};
    set(shown, "correlationId", one.correlation_id);
    set(shown, "tenant", one.tenant);
    set(shown, "orderKey", one.order_key);
    shown["contentType"] = one.content_type;
    shown["payloadSize"] = one.payload_size;
    if (!one.payload) return shown;
    const bool is_text = is_utf8(*one.payload);
    shown["payload"] = is_text ? *one.payload : encode_base64(*one.payload);
    if (!is_text) shown["payloadEncoding"] = "base64";
    return shown;
}

/// The answer to a read, made on a thread that may block.
template <class Look>
task<http_response> look(const queue_deps& with, Look look_at) {
    json::object shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(found, look_at(from, with.env.clock.wall()));
            shown = std::move(found);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200, json::serialize(shown));
}

task<http_response> stats(const queue_deps& with, http_request /*request*/, admin_caller /*who*/) {
    return look(with, [&with](store_reader& from, wall_time now) -> result<json::object> {
        POSTHORN_LET(seen, look_at_queues(from, with.queues, now));
        json::array queues;
        for (const auto& one : seen) queues.push_back(to_json(one, now));
        return json::object{{"queues", std::move(queues)}};
    });
}

task<http_response> list(const queue_deps& with, http_request request, admin_caller /*who*/) {
    const auto asked = read_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    co_return co_await look(
        with, [wanted = asked->filter](store_reader& from, wall_time now) -> result<json::object> {
            POSTHORN_LET(page, list_jobs(from, wanted, now));
            json::array jobs;
            for (const auto& one : page) jobs.push_back(to_json(one));
            const bool is_full = std::ssize(page) == wanted.limit;
            return json::object{
                {"jobs", std::move(jobs)},
                {"next", is_full ? json::value(page.back().seq) : json::value(nullptr)}};
        });
}

task<http_response> show(const queue_deps& with, http_request request, admin_caller who) {
    const auto seq = seq_of(request);
    if (!seq) co_return answer_to_error(seq.error());
    const auto asked = read_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    if (asked->payload && !who.rights.payloads)
        co_return answer_to_error({error_code::access_denied,
                                   "reading payloads needs a key with that right: payloads = true "
                                   "beside it in admin.keys"});
    co_return co_await look(with,
                            [seq = *seq, payload = asked->payload](
                                store_reader& from, wall_time now) -> result<json::object> {
                                POSTHORN_LET(found, find_job(from, seq, payload, now));
                                return to_json(found);
                            });
}

task<http_response> retry(const queue_deps& with, http_request request, admin_caller /*who*/) {
    const auto seq = seq_of(request);
    if (!seq) co_return answer_to_error(seq.error());
    const auto done = co_await commit(with.where, [&](store_transaction& tx) {
        return retry_queued(tx, *seq, with.env.clock.wall());
    });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200,
                            json::serialize(json::object{{"seq", *seq}, {"state", "waiting"}}));
}

task<http_response> retry_all(const queue_deps& with, http_request request, admin_caller /*who*/) {
    const auto endpoint = read_text(request.body, "endpoint");
    if (!endpoint) co_return answer_to_error(endpoint.error());
    if (endpoint->empty())
        co_return answer_to_error(
            {error_code::invalid_argument, "give the endpoint whose jobs are to be tried again"});
    std::int64_t count = 0;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(changed, retry_given_up(tx, *endpoint));
        count = changed;
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200, json::serialize(json::object{{"count", count}}));
}

task<http_response> finish(const queue_deps& with, http_request request, admin_caller /*who*/) {
    const auto seq = seq_of(request);
    if (!seq) co_return answer_to_error(seq.error());
    const auto response = read_text(request.body, "response");
    if (!response) co_return answer_to_error(response.error());
    const auto done = co_await commit(with.where, [&](store_transaction& tx) {
        return finish_queued(tx, with.maker, *seq, *response, with.env.clock.wall());
    });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200,
                            json::serialize(json::object{{"seq", *seq}, {"state", "finished"}}));
}

constexpr std::array job_shapes{
    named_shape{"JobState", "'waiting' | 'taken' | 'given-up'"},
    named_shape{"Job",
                "{seq: integer, state: JobState, endpoint: string, messageId: string,"
                " sourceServiceId: string, messageType: string, receivedAt: time,"
                " attempts: integer, takenBy?: string, freeAt?: time, givenUpAt?: time,"
                " error?: string, correlationId?: string, tenant?: string, orderKey?: string,"
                " contentType: string, payloadSize: integer, payload?: string,"
                " payloadEncoding?: 'base64',"
                " waitsBehind?: {seq: integer, messageId: string, givenUpAt: time}}"}};

}  // namespace

std::vector<admin_route> queue_operator_routes(const queue_deps& with) {
    using work = task<http_response> (*)(const queue_deps&, http_request, admin_caller);
    const auto route = [&with](std::string path, const route_doc& doc, work answer) {
        const bool looks = answer == &stats || answer == &list || answer == &show;
        return admin_route{looks ? "GET" : "POST", std::move(path),
                           looks ? admin_role::viewer : admin_role::operator_, doc,
                           [&with, answer](http_request request, admin_caller who) {
                               return answer(with, std::move(request), std::move(who));
                           }};
    };
    return {
        route("/_rf/queue",
              {.summary = "How full each queue is.",
               .answer = "{queues: [{endpoint: string, waiting: integer, taken: integer,"
                         " givenUp: integer, workers: integer, parked: integer, attemptsMax: "
                         "integer, oldestWaitingSince?: time,"
                         " oldestWaitingSeconds?: integer}]}"},
              &stats),
        route("/_rf/queue/jobs",
              {.summary = "Jobs, oldest first.",
               .answer = "{jobs: [Job], next: integer | null}",
               .query = "{endpoint?: string, state?: JobState, limit?: integer, after?: integer}",
               .shapes = job_shapes},
              &list),
        route("/_rf/queue/jobs/{seq}",
              {.summary = "One job.",
               .answer = "Job",
               .query = "{payload?: boolean}",
               .shapes = job_shapes},
              &show),
        route("/_rf/queue/jobs/{seq}/retry",
              {.summary = "Lets a job be taken at once.",
               .answer = "{seq: integer, state: 'waiting'}"},
              &retry),
        route("/_rf/queue/jobs/{seq}/finish",
              {.summary = "Ends a job in place of a worker.",
               .answer = "{seq: integer, state: 'finished'}",
               .body = "{response?: string}"},
              &finish),
        route("/_rf/queue/retry",
              {.summary = "Lets all jobs of an endpoint that were given up be taken again.",
               .answer = "{count: integer}",
               .body = "{endpoint: string}"},
              &retry_all)};
}

}  // namespace posthorn
