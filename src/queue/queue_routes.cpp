#include "queue/queue_routes.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include <fmt/ranges.h>

#include <posthorn/json/reader.hpp>
#include <posthorn/json/writer.hpp>

#include "base/text/base64.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "queue/queue.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t limit_max = 1000;
constexpr milliseconds lease_max = std::chrono::hours{24};

/// What all three say, each some of it.
struct queue_request {
    std::string owner;
    std::int64_t limit = 1;
    milliseconds lease = std::chrono::seconds{60};
    milliseconds delay{};
    std::vector<std::int64_t> seqs;
};

using field_names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 3> take_fields{"owner", "limit", "leaseMs"};
constexpr std::array<std::string_view, 2> ack_fields{"owner", "seqs"};
constexpr std::array<std::string_view, 3> release_fields{"owner", "seqs", "delayMs"};

result<queue_request> read_body(std::string_view body, field_names known) {
    queue_request asked;
    std::string unknown;
    try {
        json_reader::read(body, [&](json_reader& document) {
            document.members([&](std::string_view name, json_reader& value) {
                if (std::ranges::find(known, name) == known.end()) {
                    unknown = name.substr(0, 100);
                    value.skip();
                } else if (name == "owner") {
                    asked.owner = value.string();
                } else if (name == "limit") {
                    asked.limit = value.integer();
                } else if (name == "leaseMs") {
                    asked.lease = milliseconds(value.integer());
                } else if (name == "delayMs") {
                    asked.delay = milliseconds(value.integer());
                } else {
                    value.elements(
                        [&](json_reader& each) { asked.seqs.push_back(each.integer()); });
                }
            });
        });
    } catch (const error& why) {
        return fail(error_code::malformed_request, "the body cannot be read: {}", why.what());
    }
    const auto refuse = [](std::string_view what) {
        return fail(error_code::invalid_argument, "{}", what);
    };
    if (!unknown.empty())
        return refuse(fmt::format("the field '{}' is not known here; there are {}", unknown,
                                  fmt::join(known, ", ")));
    if (asked.owner.empty() || asked.owner.size() > 255)
        return refuse("give an owner, a name of 1 to 255 characters that no other worker has");
    if (asked.limit < 1 || asked.limit > limit_max) return refuse("limit is 1 to 1000");
    if (asked.lease < milliseconds{1} || asked.lease > lease_max)
        return refuse("leaseMs is 1 to 86400000");
    if (asked.delay < milliseconds{0} || asked.delay > lease_max)
        return refuse("delayMs is 0 to 86400000");
    if (asked.seqs.empty() && std::ranges::find(known, "seqs") != known.end())
        return refuse("give seqs, those of the messages that it is about, such as [1, 2]");
    if (asked.seqs.size() > limit_max) return refuse("at most 1000 seqs go into one request");
    return asked;
}

bool is_json(const queued_message& one) { return one.content_type == "application/json"; }

void write_text(json_writer& writer, std::string_view name, std::string_view value) {
    writer.plain_key(name);
    value.empty() ? writer.null() : writer.string(value);
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
    if (is_text && is_json(one) && !one.payload.empty())
        writer.raw(one.payload);
    else
        writer.string(is_text ? one.payload : encode_base64(one.payload));
    if (!is_text) {  // As on the wire.
        writer.plain_key("payloadEncoding");
        writer.string("base64");
    }
    writer.plain_key("headers");
    one.headers.empty() ? writer.null() : writer.raw(one.headers);
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

task<http_response> take(const queue_deps& with, http_request request) {
    const auto asked = read_body(request.body, take_fields);
    if (!asked) co_return answer_to_error(asked.error());
    const queue_take wanted{.endpoint = request.parameters["endpoint"],
                            .owner = asked->owner,
                            .limit = asked->limit,
                            .lease = asked->lease};
    std::vector<queued_message> taken;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(given, take_queued(tx, wanted, with.time.wall()));
        taken = std::move(given);
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    // What an earlier configuration left can still be taken.
    if (taken.empty() && std::ranges::find(with.queues, wanted.endpoint) == with.queues.end())
        co_return answer_to_error(no_such_queue(wanted.endpoint, with.queues));
    co_return answer_with(taken);
}

using receipt_work = result<std::int64_t> (*)(store_transaction&, const queue_receipt&, wall_time);

task<http_response> settle(const queue_deps& with, http_request request, field_names fields,
                           receipt_work work) {
    const auto asked = read_body(request.body, fields);
    if (!asked) co_return answer_to_error(asked.error());
    const queue_receipt receipt{asked->seqs, asked->owner};
    std::int64_t count = 0;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(changed, work(tx, receipt, with.time.wall() + asked->delay));
        count = changed;
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200, fmt::format("{{\"count\":{}}}", count));
}

result<std::int64_t> acknowledge(store_transaction& tx, const queue_receipt& done, wall_time) {
    return acknowledge_queued(tx, done);
}

}  // namespace

std::vector<admin_route> queue_routes(queue_deps with) {
    const auto kept = std::make_shared<const queue_deps>(std::move(with));
    const auto route = [](std::string path, admin_handler answer) {
        return admin_route{"POST", std::move(path), admin_role::worker, std::move(answer)};
    };
    return {route("/_rf/queue/{endpoint}/take",
                  [kept](http_request request, const admin_caller&) {
                      return take(*kept, std::move(request));
                  }),
            route("/_rf/queue/ack",
                  [kept](http_request request, const admin_caller&) {
                      return settle(*kept, std::move(request), ack_fields, &acknowledge);
                  }),
            route("/_rf/queue/release", [kept](http_request request, const admin_caller&) {
                return settle(*kept, std::move(request), release_fields, &release_queued);
            })};
}

}  // namespace posthorn
