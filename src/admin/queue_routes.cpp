#include "admin/queue_routes.hpp"

#include <chrono>
#include <utility>

#include <posthorn/json_reader.hpp>
#include <posthorn/json_writer.hpp>

#include "admin/answers.hpp"
#include "inbox/configured/queue.hpp"
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

result<queue_request> read_body(std::string_view body) {
    queue_request asked;
    try {
        json_reader::read(body, [&](json_reader& document) {
            document.members([&](std::string_view name, json_reader& value) {
                if (name == "owner") {
                    asked.owner = value.string();
                } else if (name == "limit") {
                    asked.limit = value.integer();
                } else if (name == "leaseMs") {
                    asked.lease = milliseconds(value.integer());
                } else if (name == "delayMs") {
                    asked.delay = milliseconds(value.integer());
                } else if (name == "seqs") {
                    value.elements(
                        [&](json_reader& each) { asked.seqs.push_back(each.integer()); });
                } else {
                    value.skip();
                }
            });
        });
    } catch (const error& why) {
        return fail(error_code::malformed_request, "the body cannot be read: {}", why.what());
    }
    const auto refuse = [](std::string_view what) {
        return fail(error_code::invalid_argument, "{}", what);
    };
    if (asked.owner.empty() || asked.owner.size() > 255)
        return refuse("give an owner, a name of 1 to 255 characters that no other worker has");
    if (asked.limit < 1 || asked.limit > limit_max) return refuse("limit is 1 to 1000");
    if (asked.lease < milliseconds{1} || asked.lease > lease_max)
        return refuse("leaseMs is 1 to 86400000");
    if (asked.delay < milliseconds{0} || asked.delay > lease_max)
        return refuse("delayMs is 0 to 86400000");
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
    writer.plain_key("payload");
    if (is_json(one) && !one.payload.empty())
        writer.raw(one.payload);
    else
        writer.string(one.payload);
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

task<http_response> take(store& where, const clock& time, http_request request) {
    const auto asked = read_body(request.body);
    if (!asked) co_return answer_to_error(asked.error());
    const queue_take wanted{.endpoint = request.parameters["endpoint"],
                            .owner = asked->owner,
                            .limit = asked->limit,
                            .lease = asked->lease};
    std::vector<queued_message> taken;
    const auto done = co_await commit(where, [&](store_transaction& tx) -> result<> {
        auto given = take_queued(tx, wanted, time.wall());
        if (!given) return std::unexpected(std::move(given).error());
        taken = *std::move(given);
        return {};
    });
    co_return done ? answer_with(taken) : answer_to_error(done.error());
}

using receipt_work = result<std::int64_t> (*)(store_transaction&, const queue_receipt&, wall_time);

task<http_response> settle(store& where, const clock& time, http_request request,
                           receipt_work work) {
    const auto asked = read_body(request.body);
    if (!asked) co_return answer_to_error(asked.error());
    const queue_receipt receipt{asked->seqs, asked->owner};
    std::int64_t count = 0;
    const auto done = co_await commit(where, [&](store_transaction& tx) -> result<> {
        const auto changed = work(tx, receipt, time.wall() + asked->delay);
        if (!changed) return std::unexpected(changed.error());
        count = *changed;
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    co_return json_response(200, fmt::format("{{\"count\":{}}}", count));
}

result<std::int64_t> acknowledge(store_transaction& tx, const queue_receipt& done, wall_time) {
    return acknowledge_queued(tx, done);
}

}  // namespace

void add_queue_routes(router& routes, store& where, const clock& time, admin_gate& gate) {
    const auto add = [&](std::string path, admin_handler handler) {
        routes.add("POST", std::move(path), gate.guarded(admin_role::worker, std::move(handler)));
    };
    add("/_rf/queue/{endpoint}/take", [&where, &time](http_request request, const admin_caller&) {
        return take(where, time, std::move(request));
    });
    add("/_rf/queue/ack", [&where, &time](http_request request, const admin_caller&) {
        return settle(where, time, std::move(request), &acknowledge);
    });
    add("/_rf/queue/release", [&where, &time](http_request request, const admin_caller&) {
        return settle(where, time, std::move(request), &release_queued);
    });
}

}  // namespace posthorn
