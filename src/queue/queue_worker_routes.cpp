#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/ranges.h>

#include <posthorn/json/reader.hpp>
#include <posthorn/json/writer.hpp>

#include "base/text/base64.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "message/json_check.hpp"
#include "queue/queue_keeper.hpp"
#include "queue/queue_routes.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t limit_max = 1000;
constexpr milliseconds wait_max = std::chrono::minutes{1};
constexpr std::size_t text_characters_max = 2000;
// What other processes put into the queue, and whose worker is gone, is found by looking.
constexpr milliseconds look_every = std::chrono::seconds{1};

/// What all three say, each some of it.
struct queue_request {
    std::string owner;
    std::int64_t limit = 1;
    milliseconds lease = std::chrono::seconds{60};
    milliseconds wait{};
    std::vector<std::int64_t> seqs;
    queue_release release;
    std::string response;
};

using field_names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 4> take_fields{"owner", "limit", "leaseMs", "waitMs"};
constexpr std::array<std::string_view, 3> ack_fields{"owner", "seqs", "response"};
constexpr std::array<std::string_view, 5> release_fields{"owner", "seqs", "delayMs", "error",
                                                         "giveUp"};

void read_field(std::string_view name, json_reader& value, queue_request& into) {
    if (name == "owner")
        into.owner = value.string();
    else if (name == "limit")
        into.limit = value.integer();
    else if (name == "leaseMs")
        into.lease = milliseconds(value.integer());
    else if (name == "waitMs")
        into.wait = milliseconds(value.integer());
    else if (name == "delayMs")
        into.release.delay = milliseconds(value.integer());
    else if (name == "error")
        into.release.error = clean_utf8(value.string(), text_characters_max);
    else if (name == "giveUp")
        into.release.gives_up = value.boolean();
    else if (name == "response")
        into.response = value.raw();
    else
        value.elements([&](json_reader& each) { into.seqs.push_back(each.integer()); });
}

result<> check(const queue_request& asked, field_names known) {
    const auto refuse = [](std::string_view what) {
        return fail(error_code::invalid_argument, "{}", what);
    };
    const auto is_within = [](milliseconds time, milliseconds longest) {
        return time >= milliseconds{0} && time <= longest;
    };
    if (asked.owner.empty() || asked.owner.size() > 255)
        return refuse("give an owner, a name of 1 to 255 characters that no other worker has");
    if (asked.limit < 1 || asked.limit > limit_max) return refuse("limit is 1 to 1000");
    if (asked.lease < milliseconds{1} || asked.lease > queue_lease_max)
        return refuse("leaseMs is 1 to 86400000");
    if (!is_within(asked.wait, wait_max)) return refuse("waitMs is 0 to 60000");
    if (asked.release.delay && !is_within(*asked.release.delay, queue_lease_max))
        return refuse("delayMs is 0 to 86400000");
    if (asked.seqs.empty() && std::ranges::find(known, "seqs") != known.end())
        return refuse("give seqs, those of the messages that it is about, such as [1, 2]");
    if (asked.seqs.size() > limit_max) return refuse("at most 1000 seqs go into one request");
    return {};
}

result<queue_request> read_body(std::string_view body, field_names known) {
    queue_request asked;
    std::string unknown;
    try {
        json_reader::read(body, [&](json_reader& document) {
            document.members([&](std::string_view name, json_reader& value) {
                if (std::ranges::find(known, name) != known.end())
                    return read_field(name, value, asked);
                unknown = name.substr(0, 100);
                value.skip();
            });
        });
    } catch (const error& why) {
        return fail(error_code::malformed_request, "the body cannot be read: {}", why.what());
    }
    if (!unknown.empty())
        return fail(error_code::invalid_argument, "the field '{}' is not known here; there are {}",
                    unknown, fmt::join(known, ", "));
    POSTHORN_TRY(check(asked, known));
    return asked;
}

// A program may have written the row: whatever is in it, it can be told with those beside it.
bool is_json(const queued_message& one) {
    return one.content_type == "application/json" && check_json(one.payload);
}

void write_text(json_writer& writer, std::string_view name, std::string_view value) {
    writer.plain_key(name);
    if (value.empty())
        writer.null();
    else if (is_utf8(value))
        writer.string(value);
    else
        writer.string(clean_utf8(value, text_characters_max));
}

void write_message(json_writer& writer, const queued_message& one) {
    writer.open('{');
    writer.plain_key("seq");
    writer.integer(one.seq);
    write_text(writer, "messageId", one.message_id);
    write_text(writer, "sourceServiceId", one.source);
    write_text(writer, "endpoint", one.endpoint);
    write_text(writer, "messageType", one.message_type);
    write_text(writer, "correlationId", one.correlation_id);
    write_text(writer, "tenant", one.tenant);
    write_text(writer, "orderKey", one.order_key);
    write_text(writer, "contentType", one.content_type);
    const bool is_text = is_utf8(one.payload);
    writer.plain_key("payload");
    if (is_text && is_json(one))
        writer.raw(one.payload);
    else
        writer.string(is_text ? one.payload : encode_base64(one.payload));
    if (!is_text) {  // As on the wire.
        writer.plain_key("payloadEncoding");
        writer.string("base64");
    }
    writer.plain_key("headers");
    check_json(one.headers, json_kind::object) ? writer.raw(one.headers) : writer.null();
    write_text(writer, "receivedAt", to_iso8601(one.received_at));
    write_text(writer, "takenUntil", to_iso8601(one.taken_until));
    writer.plain_key("attempts");
    writer.integer(one.attempts);
    writer.close('}');
}

http_response answer_with(const std::vector<queued_message>& taken) {
    std::string body;
    json_writer writer(body);
    writer.open('{');
    writer.plain_key("messages");
    writer.open('[');
    for (const auto& one : taken) {
        writer.element();
        write_message(writer, one);
    }
    writer.close(']');
    writer.close('}');
    return json_response(200, std::move(body));
}

error no_such_queue(std::string_view endpoint, const std::vector<std::string>& queues) {
    const auto there_are = queues.empty() ? std::string(
                                                "there is none; write ENDPOINT = \"queue\" under "
                                                "[handlers]")
                                          : fmt::format("there are {}", fmt::join(queues, ", "));
    return {error_code::not_found,
            fmt::format("'{}' is not a queue here; {}", endpoint, there_are)};
}

task<result<queue_taken>> take_now(const queue_deps& with, queue_take wanted) {
    queue_taken taken;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        const auto now = with.env.clock.wall();
        POSTHORN_LET(spent, give_up_spent(tx, with.rules, now));
        POSTHORN_LET(given, take_queued(tx, wanted, now));
        std::ranges::move(spent, std::back_inserter(given.given_up));
        taken = std::move(given);
        return {};
    });
    if (!done) co_return std::unexpected(done.error());
    log_given_up(with.env.log, taken.given_up);
    co_return taken;
}

/// Waits until there may be something to take. False when the time is over, the node stops, or the
/// worker has gone: it must not be given what it will not do.
task<bool> comes(const queue_deps& with, queue_waits::place& at, const http_request& request,
                 const std::string& endpoint, steady_time until) {
    for (;;) {
        const auto left = until - with.env.clock.steady();
        if (left <= std::chrono::nanoseconds{0} || with.waits.is_closed()) co_return false;
        co_await at.wait(with.env.timer, std::min<std::chrono::nanoseconds>(left, look_every));
        if (request.has_hung_up && request.has_hung_up()) co_return false;
        bool found = false;
        const auto looked =
            co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
                POSTHORN_LET(is_free, has_free(from, endpoint, with.env.clock.wall()));
                found = is_free;
                return {};
            });
        if (!looked || found) co_return true;  // What is wrong, taking will say.
    }
}

task<http_response> take(const queue_deps& with, http_request request) {
    const auto asked = read_body(request.body, take_fields);
    if (!asked) co_return answer_to_error(asked.error());
    const queue_take wanted{.endpoint = request.parameters["endpoint"],
                            .owner = asked->owner,
                            .limit = asked->limit,
                            .lease = asked->lease};
    const auto until = with.env.clock.steady() + asked->wait;
    // Before the first look, so that nothing comes unnoticed between that and the wait.
    queue_waits::place at(with.waits, wanted.endpoint);
    for (;;) {
        const auto taken = co_await take_now(with, wanted);
        if (!taken) co_return answer_to_error(taken.error());
        if (!taken->messages.empty()) co_return answer_with(taken->messages);
        // What an earlier configuration left can still be taken.
        if (std::ranges::find(with.queues, wanted.endpoint) == with.queues.end())
            co_return answer_to_error(no_such_queue(wanted.endpoint, with.queues));
        if (!co_await comes(with, at, request, wanted.endpoint, until)) co_return answer_with({});
    }
}

http_response answer_count(const result<>& done, std::int64_t count) {
    if (!done) return answer_to_error(done.error());
    return json_response(200, fmt::format("{{\"count\":{}}}", count));
}

task<http_response> acknowledge(const queue_deps& with, http_request request) {
    const auto asked = read_body(request.body, ack_fields);
    if (!asked) co_return answer_to_error(asked.error());
    std::int64_t count = 0;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(
            gone, acknowledge_queued(tx, with.maker, {asked->seqs, asked->owner}, asked->response));
        count = gone;
        return {};
    });
    co_return answer_count(done, count);
}

task<http_response> release(const queue_deps& with, http_request request) {
    const auto asked = read_body(request.body, release_fields);
    if (!asked) co_return answer_to_error(asked.error());
    queue_released released;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(back, release_queued(tx, {asked->seqs, asked->owner}, asked->release,
                                          with.rules, with.env.clock.wall()));
        released = std::move(back);
        return {};
    });
    if (done) log_given_up(with.env.log, released.given_up);
    co_return answer_count(done, released.count);
}

constexpr std::array taken_shapes{named_shape{
    "TakenJob",
    "{seq: integer, messageId: string | null, sourceServiceId: string | null,"
    " endpoint: string | null, messageType: string | null, correlationId: string | null,"
    " tenant: string | null, orderKey: string | null, contentType: string | null, payload: any,"
    " payloadEncoding?: 'base64', headers: any, receivedAt: time, takenUntil: time,"
    " attempts: integer}"}};

}  // namespace

std::vector<admin_route> queue_worker_routes(const queue_deps& with) {
    const auto route = [&with](std::string path, const route_doc& doc,
                               task<http_response> (*answer)(const queue_deps&, http_request)) {
        return admin_route{"POST", std::move(path), admin_role::worker, doc,
                           [&with, answer](http_request request, const admin_caller&) {
                               return answer(with, std::move(request));
                           }};
    };
    return {route("/_rf/queue/{endpoint}/take",
                  {.summary = "Gives jobs to a worker, who has them until its lease ends.",
                   .answer = "{messages: [TakenJob]}",
                   .body = "{owner: string, limit?: integer, leaseMs?: integer, waitMs?: integer}",
                   .shapes = taken_shapes},
                  &take),
            route("/_rf/queue/ack",
                  {.summary = "Ends jobs that are done; answers how many were still the owner's.",
                   .answer = "{count: integer}",
                   .body = "{owner: string, seqs: [integer], response?: any}"},
                  &acknowledge),
            route("/_rf/queue/release",
                  {.summary = "Gives jobs back, to be taken again later or not at all.",
                   .answer = "{count: integer}",
                   .body = "{owner: string, seqs: [integer], delayMs?: integer, error?: string,"
                           " giveUp?: boolean}"},
                  &release)};
}

}  // namespace posthorn
