#include "webhook/routes/recover_routes.hpp"

#include <array>
#include <limits>
#include <string>
#include <utility>

#include <boost/json/parse.hpp>

#include "base/async/cancellation.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "store/async.hpp"
#include "webhook/attempt_page.hpp"
#include "webhook/fan_out.hpp"
#include "webhook/routes/recover.hpp"
#include "webhook/routes/route_kit.hpp"
#include "webhook/webhook_ids.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::int64_t looked_at_max = 100'000;  // Events, before a number is "at least".

struct recover_request {
    bool missing = false;  // Otherwise what failed.
    recover_window when{};
};

std::optional<wall_time>& side_of(recover_window& when, std::string_view name) {
    return name == "since" ? when.since : when.until;
}

result<recover_window> read_window(std::string_view query, wall_time now) {
    constexpr std::array<std::string_view, 2> known{"since", "until"};
    POSTHORN_LET(asked, read_query_fields(query, known));
    recover_window made;
    for (const auto& [name, value] : asked)
        POSTHORN_TRY(read_time(name, value, side_of(made, name)));
    POSTHORN_TRY(check_times(made, now));
    return made;
}

result<recover_request> read_recover_request(std::string_view text, wall_time now) {
    recover_request made;
    if (text.empty()) return made;
    boost::system::error_code wrong;
    const auto body = json::parse(text, wrong);
    if (wrong || !body.is_object())
        return fail(error_code::malformed_request, "the body is not a JSON object");
    for (const auto& [name, value] : body.as_object()) {
        const auto* const said = value.if_string();
        if (name == "what" && said != nullptr && (*said == "failed" || *said == "missing"))
            made.missing = *said == "missing";
        else if ((name == "since" || name == "until") && said != nullptr) {
            POSTHORN_TRY(read_time(name, *said, side_of(made.when, name)));
        } else
            return fail(error_code::invalid_argument,
                        "'{}' cannot be said so; there are what (failed or missing), since and "
                        "until",
                        clean_utf8(name, 100));
    }
    POSTHORN_TRY(check_times(made.when, now));
    return made;
}

// What was published before it was made, it did not miss; unless it is asked for.
recover_window for_missing(recover_window when, const subscription& of) {
    if (!when.since) when.since = of.created_at;
    return when;
}

/// The subscription that a path names, among all, or the refusal.
struct found_subscription {
    std::shared_ptr<const subscription_set> among;
    subscription_set::target of;
};
task<std::expected<found_subscription, http_response>> find(const webhook_desk& with,
                                                            const http_request& request) {
    const auto id = subscription_in(request);
    if (!id) co_return std::unexpected(answer_to_error(id.error()));
    const auto all = co_await with.subscriptions.refresh();
    if (!all) co_return std::unexpected(answer_to_error(all.error()));
    auto found = (*all)->find(*id);
    if (!found) co_return std::unexpected(answer_to_error(no_such_subscription(*id, **all)));
    co_return found_subscription{*all, std::move(found)};
}

task<http_response> preview(const webhook_desk& with, http_request request) {
    const auto when = read_window(request.query, with.env.clock.wall());
    if (!when) co_return answer_to_error(when.error());
    const auto one = co_await find(with, request);
    if (!one) co_return one.error();
    const auto& of = one->of->of;
    failed_deliveries failed;
    auto done = co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
        POSTHORN_LET(seen, count_failed(from, of.id, *when));
        failed = seen;
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    const auto window = for_missing(*when, of);
    std::int64_t missing = 0;
    std::int64_t looked_at = 0;
    std::optional<event_place> next = begin_of(window);
    while (next && looked_at < looked_at_max) {
        done = co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(some, find_missed(from, {*one->among, one->of}, window, *next));
            missing += std::ssize(some.events);
            looked_at += some.looked_at;
            next = some.next;
            return {};
        });
        if (!done) co_return answer_to_error(done.error());
    }
    json::object shown{{"id", of.id.to_string()},
                       {"dead", failed.dead},
                       {"expired", failed.expired},
                       {"missing", missing}};
    if (next) shown["missingAtLeast"] = true;
    co_return answer_with(shown);
}

/// Deliveries that came to nothing are tried again, with all their retries and a new life.
task<result<std::int64_t>> recover_failed(const webhook_desk& with, const uuid& id,
                                          recover_window when) {
    std::int64_t recovered = 0;
    for (const auto status : {outbox_status::dead, outbox_status::expired}) {
        std::int64_t after = 0;
        do {
            failed_slice some;
            POSTHORN_CO_TRY(
                co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
                    POSTHORN_LET(found, find_failed(from, id, status, when, after));
                    some = std::move(found);
                    return {};
                }));
            after = some.next;
            if (some.deliveries.empty()) continue;
            const auto now = with.env.clock.wall();
            std::int64_t number = 0;
            POSTHORN_CO_TRY(co_await commit(with.where, [&](store_transaction& tx) -> result<> {
                POSTHORN_LET(tried, try_again(tx, some, now, now + with.life));
                number = tried;
                return {};
            }));
            recovered += number;
        } while (after != 0 && !co_await is_cancelled());
    }
    co_return recovered;
}

/// Makes the deliveries that are missing.
task<result<std::int64_t>> recover_missing(const webhook_desk& with, found_subscription one,
                                           recover_window when) {
    const auto window = for_missing(when, one.of->of);
    std::int64_t recovered = 0;
    std::optional<event_place> next = begin_of(window);
    while (next && !co_await is_cancelled()) {
        missed_slice some;
        POSTHORN_CO_TRY(
            co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
                POSTHORN_LET(found, find_missed(from, {*one.among, one.of}, window, *next));
                some = std::move(found);
                return {};
            }));
        next = some.next;
        if (some.events.empty()) continue;
        std::vector<message> deliveries;
        const auto now = with.env.clock.wall();
        for (const auto& event : some.events)
            deliveries.push_back(make_delivery(event, one.of->of,
                                               {.source = with.source,
                                                .now = now,
                                                .life = with.life,
                                                .retries_max = with.retries_max}));
        std::int64_t number = 0;
        POSTHORN_CO_TRY(co_await commit(with.where, [&](store_transaction& tx) -> result<> {
            POSTHORN_LET(stored, insert_missed(tx, deliveries));
            number = stored;
            return {};
        }));
        recovered += number;
    }
    co_return recovered;
}

task<http_response> recover(const webhook_desk& with, http_request request) {
    const auto asked = read_recover_request(request.body, with.env.clock.wall());
    if (!asked) co_return answer_to_error(asked.error());
    auto one = co_await find(with, request);
    if (!one) co_return one.error();
    const auto id = one->of->of.id;
    if (one->of->of.state == subscription_state::disabled)
        co_return answer_to_error(
            {error_code::state_changed, "it is disabled; enable it first, then recover"});
    const auto recovered = asked->missing
                               ? co_await recover_missing(with, *std::move(one), asked->when)
                               : co_await recover_failed(with, id, asked->when);
    if (!recovered) co_return answer_to_error(recovered.error());
    co_return answer_with({{"id", id.to_string()}, {"recovered", *recovered}});
}

/// What a delivery is that an attempt belongs to.
struct found_delivery {
    std::string status;  // Empty if it is past its retention.
    message body{};
};

result<found_delivery> find_delivery(store_reader& from, const uuid& subscription,
                                     std::int64_t attempt) {
    POSTHORN_LET(tried, find_attempt(from, subscription, attempt));
    if (!tried)
        return fail(error_code::not_found, "there is no attempt {} of this subscription", attempt);
    const auto id = child_id(tried->body.event, subscription);
    const auto text = id.to_string();
    const std::array<sql_param, 1> with{std::string_view(text)};
    found_delivery found;
    POSTHORN_TRY(from.query("SELECT status FROM outbox_messages WHERE message_id = ?", with,
                            [&](const sql_row& row) { found.status = row.text(0); }));
    POSTHORN_LET(row, from.outbox().find(id));
    if (row) found.body = std::move(row->body);
    found.body.id = id;
    return found;
}

/// Whether a delivery can be tried again, by its status. Pure.
result<outbox_status> failed_as(std::string_view status) {
    for (const auto failed : {outbox_status::dead, outbox_status::expired})
        if (status == to_string(failed)) return failed;
    if (status.empty())
        return fail(error_code::not_found,
                    "the delivery is past its retention, so it cannot be tried again");
    if (status == to_string(outbox_status::pending))
        return fail(error_code::state_changed, "it is still being tried; nothing needs to be done");
    return fail(error_code::state_changed, "it was delivered or resolved since; look again");
}

/// One delivery that came to nothing, named by an attempt of it.
task<http_response> retry(const webhook_desk& with, http_request request) {
    const auto seq = number_in({{"seq", request.parameters.at("seq")}},
                               {"seq", std::numeric_limits<std::int64_t>::max(), 0});
    if (!seq) co_return answer_to_error(seq.error());
    const auto one = co_await find(with, request);
    if (!one) co_return one.error();
    const auto& of = one->of->of;
    if (of.state == subscription_state::disabled)
        co_return answer_to_error(
            {error_code::state_changed, "it is disabled; enable it first, then try again"});
    failed_slice some;
    auto done = co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
        POSTHORN_LET(found, find_delivery(from, of.id, *seq));
        POSTHORN_LET(status, failed_as(found.status));
        some.status = status;
        some.deliveries.push_back(std::move(found.body));
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    const auto now = with.env.clock.wall();
    std::int64_t number = 0;
    done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(tried, try_again(tx, some, now, now + with.life));
        number = tried;
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with({{"id", of.id.to_string()}, {"recovered", number}});
}

}  // namespace

std::vector<admin_route> recover_routes(const webhook_desk& with) {
    const std::string path = "/_rf/webhooks/{id}/recover";
    return {
        {"GET",
         path,
         admin_role::viewer,
         {.summary =
              "What would be recovered: deliveries that were given up or expired, and events "
              "of which it has no delivery; published since a time, until another.",
          .answer = "{id: uuid, dead: integer, expired: integer, missing: count}",
          .query = "{since?: time, until?: time}"},
         [&with](http_request request, admin_caller /*who*/) {
             return preview(with, std::move(request));
         }},
        {"POST",
         path,
         admin_role::operator_,
         {.summary = "Tries deliveries again that came to nothing, or sends it events that it "
                     "missed; since it was made, unless a time is given.",
          .answer = "{id: uuid, recovered: integer}",
          .body = "{what?: 'failed' | 'missing', since?: time, until?: time}"},
         [&with](http_request request, admin_caller /*who*/) {
             return recover(with, std::move(request));
         }},
        {"POST",
         "/_rf/webhooks/{id}/deliveries/{seq}/retry",
         admin_role::operator_,
         {.summary = "Tries the delivery of an attempt again, if it was given up or expired.",
          .answer = "{id: uuid, recovered: integer}"},
         [&with](http_request request, admin_caller /*who*/) {
             return retry(with, std::move(request));
         }},
    };
}

}  // namespace posthorn
