#include "webhook/webhook_routes.hpp"

#include <array>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "base/uuid_generator.hpp"
#include "feature/answers.hpp"
#include "security/webhook_signature.hpp"
#include "store/async.hpp"
#include "webhook/catalogue/event_type.hpp"
#include "webhook/routes/route_kit.hpp"
#include "webhook/routes/webhook_shapes.hpp"
#include "webhook/subscription_json.hpp"
#include "webhook/webhook_answer.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

uuid new_id(const webhook_desk& with) {
    uuid_generator ids([&] { return with.env.clock.wall(); }, with.env.random);
    return ids.next();
}

/// As it is stored: sealed for its row, or in the clear.
std::string sealed(const webhook_desk& with, const subscription& of, std::string_view text) {
    if (with.box == nullptr) return std::string(text);
    return with.box->seal(secret(std::as_bytes(std::span(text.data(), text.size()))),
                          place_of(of.id, of.tenant), with.env.random);
}

/// What a request says instead of a secret to have a new key pair.
constexpr std::string_view new_pair = "ed25519";

/// A given secret that its style can use, or a new one.
result<std::string> choose_secret(const webhook_desk& with, const subscription& of,
                                  std::string given) {
    if (given.empty()) return reveal_webhook_secret(make_webhook_secret(with.env.random));
    if (given == new_pair) given = ed25519_pair::make(with.env.random).reveal();
    webhook_target signs{.of = of};
    POSTHORN_TRY(add_key(signs, given));
    return given;
}

/// The public half of what signs for one, if that is a key pair.
std::optional<std::string> public_key_of(const webhook_target& one) {
    const auto* const pair = one.live.empty() ? nullptr : std::get_if<ed25519_pair>(&one.live[0]);
    return pair == nullptr ? std::nullopt : std::optional(pair->public_text());
}

/// What a subscriber verifies with: the secret itself, or the public half of a pair.
void show_secret(json::object& shown, std::string_view text) {
    const auto pair = ed25519_pair::parse(text);
    if (pair)
        shown["publicKey"] = pair->public_text();
    else
        shown["secret"] = text;
}

task<> see(const webhook_desk& with) { static_cast<void>(co_await with.subscriptions.refresh()); }

/// Changes a subscription in a unit, and answers with what it has become.
template <class Change>
task<http_response> change(const webhook_desk& with, http_request request, Change how) {
    const auto id = subscription_in(request);
    if (!id) co_return answer_to_error(id.error());
    static_cast<void>(co_await with.subscriptions.recent());  // For `no_such_subscription`.
    std::optional<subscription> became;
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(found, find_subscription(tx, *id));
        if (!found) return std::unexpected(no_such_subscription(*id, *with.subscriptions.now()));
        POSTHORN_TRY(how(tx, *found));
        found->updated_at = with.env.clock.wall();
        POSTHORN_TRY(update_subscription(tx, *found));
        became = *std::move(found);
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    co_await see(with);
    co_return answer_with(to_json(*became));
}

task<http_response> list(const webhook_desk& with, http_request /*request*/) {
    json::array shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(all, read_subscriptions(from));
            for (const auto& one : all) shown.push_back(to_json(one));
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    const auto present = co_await with.subscriptions.recent();
    if (!present) co_return answer_to_error(present.error());
    for (const auto& each : (*present)->all())
        if (each->of.is_configured || each->of.is_given) shown.push_back(to_json(each->of));
    co_return answer_with({{"subscriptions", std::move(shown)}});
}

/// Under `strict`, a subscription has to be for a type of the catalogue.
task<result<>> check_catalogue(const webhook_desk& with, std::string pattern) {
    if (!with.strict) co_return result<>{};
    co_return co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
        POSTHORN_LET(all, read_event_types(from));
        return check_pattern(pattern, all);
    });
}

task<http_response> add(const webhook_desk& with, http_request request) {
    subscription made;
    std::string given;
    std::string wrong;
    if (const auto said = read_subscription(request.body, made, given, &wrong); !said)
        co_return name_field(answer_to_error(said.error()), wrong);
    if (const auto fit = check(made, with.plain_http); !fit)
        co_return name_field(answer_to_error(fit.error()), wrong_field(made, with.plain_http));
    if (const auto known = co_await check_catalogue(with, made.event_type); !known)
        co_return name_field(answer_to_error(known.error()), "eventType");
    made.id = new_id(with);
    made.created_at = with.env.clock.wall();
    const auto chosen = choose_secret(with, made, std::move(given));
    if (!chosen)
        co_return name_field(answer_to_error({error_code::invalid_argument, chosen.error().what()}),
                             "secret");
    made.secret = sealed(with, made, *chosen);
    const auto done = co_await commit(
        with.where, [&](store_transaction& tx) { return insert_subscription(tx, made); });
    if (!done) co_return answer_to_error(done.error());
    co_await see(with);
    auto shown = to_json(made);
    show_secret(shown, *chosen);
    co_return answer_with(shown);
}

task<http_response> show(const webhook_desk& with, http_request request) {
    const auto id = subscription_in(request);
    if (!id) co_return answer_to_error(id.error());
    const auto all = co_await with.subscriptions.refresh();
    if (!all) co_return answer_to_error(all.error());
    const auto found = (*all)->find(*id);
    if (!found) co_return answer_to_error(no_such_subscription(*id, *with.subscriptions.now()));
    auto shown = to_json(found->of);
    if (!found->trouble.empty()) shown["trouble"] = found->trouble;
    if (const auto key = public_key_of(*found)) shown["publicKey"] = *key;
    co_return answer_with(shown);
}

task<http_response> edit(const webhook_desk& with, http_request request) {
    const auto body = request.body;
    std::string wrong;
    subscription asked;
    std::string secret;
    asked.event_type = "*";
    if (read_subscription(body, asked, secret))
        if (const auto known = co_await check_catalogue(with, asked.event_type); !known)
            co_return name_field(answer_to_error(known.error()), "eventType");
    auto answer = co_await change(
        with, std::move(request), [&](store_transaction& /*tx*/, subscription& one) -> result<> {
            const auto before = one;
            std::string given;
            POSTHORN_TRY(read_subscription(body, one, given, &wrong));
            if (!given.empty())
                return fail(error_code::invalid_argument,
                            "a secret is changed with rotate, which lets both hold for a while");
            if (one.tenant != before.tenant)
                return fail(error_code::invalid_argument,
                            "the tenant of a subscription stays; make another one");
            wrong = wrong_field(one, with.plain_http);
            return check(one, with.plain_http);
        });
    if (answer.status != 200) answer = name_field(std::move(answer), wrong);
    co_return answer;
}

task<http_response> pause(const webhook_desk& with, http_request request) {
    return change(with, std::move(request),
                  [&](store_transaction& tx, subscription& one) -> result<> {
                      if (one.state == subscription_state::disabled)
                          return fail(error_code::state_changed, "it is disabled; enable it first");
                      one.state = subscription_state::paused;
                      one.reason = "paused by a person";
                      POSTHORN_TRY(tx.outbox().pause({.destination = destination_of(one.id),
                                                      .since = with.env.clock.wall(),
                                                      .reason = one.reason}));
                      return {};
                  });
}

task<http_response> resume(const webhook_desk& with, http_request request) {
    return change(
        with, std::move(request), [](store_transaction& tx, subscription& one) -> result<> {
            if (one.state == subscription_state::disabled)
                return fail(error_code::state_changed, "it is disabled; enable it instead");
            one.state = subscription_state::active;
            one.reason.clear();
            POSTHORN_TRY(tx.outbox().resume(destination_of(one.id)));
            return {};
        });
}

task<http_response> disable(const webhook_desk& with, http_request request) {
    return change(with, std::move(request),
                  [](store_transaction& tx, subscription& one) -> result<> {
                      one.state = subscription_state::disabled;
                      one.reason = "disabled by a person";
                      POSTHORN_TRY(tx.outbox().resume(destination_of(one.id)));
                      return {};
                  });
}

task<http_response> enable(const webhook_desk& with, http_request request) {
    return change(with, std::move(request),
                  [](store_transaction& tx, subscription& one) -> result<> {
                      one.state = subscription_state::active;
                      one.reason.clear();
                      POSTHORN_TRY(tx.outbox().resume(destination_of(one.id)));
                      return {};
                  });
}

task<http_response> rotate(const webhook_desk& with, http_request request) {
    const auto id = subscription_in(request);
    if (!id) co_return answer_to_error(id.error());
    static_cast<void>(co_await with.subscriptions.recent());  // For `no_such_subscription`.
    subscription asked;
    std::string given;
    if (!request.body.empty())
        if (const auto said = read_subscription(request.body, asked, given); !said)
            co_return answer_to_error(said.error());
    // A pair is followed by a pair, unless something else is given.
    if (const auto present = with.subscriptions.now()->find(*id);
        given.empty() && present && public_key_of(*present))
        given = new_pair;
    std::string fresh;
    wall_time until{};
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(found, find_subscription(tx, *id));
        if (!found) return std::unexpected(no_such_subscription(*id, *with.subscriptions.now()));
        const auto chosen = choose_secret(with, *found, given);
        if (!chosen) return fail(error_code::invalid_argument, "{}", chosen.error().what());
        fresh = *chosen;
        until = with.env.clock.wall() + with.overlap;
        found->previous_secret = std::exchange(found->secret, sealed(with, *found, fresh));
        found->previous_until = until;
        found->updated_at = with.env.clock.wall();
        POSTHORN_TRY(update_subscription(tx, *found));
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    co_await see(with);
    json::object shown{{"id", id->to_string()}, {"previousSecretUntil", to_iso8601(until)}};
    show_secret(shown, fresh);
    co_return answer_with(shown);
}

task<http_response> remove(const webhook_desk& with, http_request request) {
    const auto id = subscription_in(request);
    if (!id) co_return answer_to_error(id.error());
    static_cast<void>(co_await with.subscriptions.recent());  // For `no_such_subscription`.
    const auto done = co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(was_there, delete_subscription(tx, *id));
        if (!was_there)
            return std::unexpected(no_such_subscription(*id, *with.subscriptions.now()));
        POSTHORN_TRY(tx.outbox().resume(destination_of(*id)));
        return {};
    });
    if (!done) co_return answer_to_error(done.error());
    co_await see(with);
    co_return answer_with({{"id", id->to_string()}, {"removed", true}});
}

task<http_response> test(const webhook_desk& with, http_request request) {
    const auto id = subscription_in(request);
    if (!id) co_return answer_to_error(id.error());
    const auto all = co_await with.subscriptions.refresh();
    if (!all) co_return answer_to_error(all.error());
    auto to = (*all)->find(*id);
    if (!to) co_return answer_to_error(no_such_subscription(*id, **all));
    auto sample = co_await read_test_request(with, std::move(request.body));
    if (!sample) co_return answer_to_error(sample.error());
    co_return co_await send_test(with, std::move(to), *std::move(sample), test_reader::staff);
}

task<http_response> refuse() { co_return refuse_secret(); }

constexpr std::string_view settable =
    "{url?: string, eventType?: string, tenant?: string, secret?: string,"
    " style?: 'standard' | 'outbox' | 'both', form?: 'envelope' | 'raw' | 'thin',"
    " maxRetries?: integer, timeoutSeconds?: integer, headers?: any, filter?: any,"
    " description?: string}";

}  // namespace

task<result<webhook_sample>> read_test_request(const webhook_desk& with, std::string body) {
    if (body.empty()) co_return webhook_sample{};
    boost::system::error_code wrong;
    const auto said = json::parse(body, wrong);
    if (wrong || !said.is_object())
        co_return fail(error_code::malformed_request, "the body is not a JSON object");
    const auto& fields = said.as_object();
    const auto* const type = fields.if_contains("eventType");
    if (fields.size() != (type == nullptr ? 0U : 1U) || (type != nullptr && !type->is_string()))
        co_return fail(error_code::invalid_argument, "a test takes eventType alone, a text");
    if (type == nullptr) co_return webhook_sample{};
    const std::string name(type->as_string());
    std::optional<event_type> found;
    POSTHORN_CO_TRY(
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(one, find_event_type(from, name));
            found = std::move(one);
            return {};
        }));
    if (!found)
        co_return fail(error_code::not_found, "there is no type '{}' in the catalogue",
                       clean_utf8(name, 100));
    co_return webhook_sample{.type = found->name,
                             .payload = found->example.empty() ? "{}" : found->example};
}

task<http_response> send_test(const webhook_desk& with, subscription_set::target to,
                              webhook_sample sample, test_reader reader) {
    const bool for_operator = reader == test_reader::staff;
    to = co_await with.secrets.apply(std::move(to));
    if (with.client == nullptr)
        co_return answer_to_error(
            {error_code::invalid_argument, "a test is sent by a running node; name it with --url"});
    if (!to->trouble.empty())
        co_return answer_to_error({error_code::state_changed,
                                   for_operator ? to->trouble : "it cannot be sent to at present"});
    const auto now = with.env.clock.wall();
    const webhook_event event{.id = new_id(with),
                              .type = std::move(sample.type),
                              .payload = std::move(sample.payload),
                              .at = now};
    const auto sent = make_webhook_request(event, *to, 1, now);
    const auto came = co_await with.client->send(
        sent, {.tenant = to->of.tenant, .endpoint = to->of.id, .is_test = true});
    if (came.trouble == guarded_trouble::overloaded)
        co_return answer_to_error(
            {error_code::overloaded, "too many tests are under way; try again in a while"});
    json::object shown{
        {"delivered", judge_webhook(came).what.what == outcome::delivered},
        {"tookMs", std::chrono::duration_cast<std::chrono::milliseconds>(came.took.whole).count()},
        {"request", json::object{{"headers", headers_to_json(sent.headers)}, {"body", sent.body}}}};
    if (came.status != 0) shown["httpStatus"] = came.status;
    if (!came.body.empty()) shown["answer"] = came.body;
    const auto& why = for_operator ? came.for_operator : came.for_subscriber;
    if (!why.empty()) shown["error"] = why;
    co_return answer_with(shown);
}

std::vector<admin_route> webhook_routes(const webhook_desk& with) {
    using work = task<http_response> (*)(const webhook_desk&, http_request);
    const auto route = [&with](std::string method, std::string path, const route_doc& doc,
                               work answer) {
        const auto needs = method == "GET" ? admin_role::viewer : admin_role::operator_;
        return admin_route{std::move(method), std::move(path), needs, doc,
                           [&with, answer](http_request request, admin_caller /*who*/) {
                               return answer(with, std::move(request));
                           }};
    };
    const auto showing_secret = [](admin_route of) {
        of.answer = [answer = std::move(of.answer)](http_request request, admin_caller who) {
            return who.rights.secrets ? answer(std::move(request), std::move(who)) : refuse();
        };
        return of;
    };
    const std::string one = "/_rf/webhooks/{id}";
    const auto turn = [](std::string_view summary) {
        return route_doc{.summary = summary, .answer = "Subscription", .shapes = webhook_shapes};
    };
    return {
        route("GET", "/_rf/webhooks",
              {.summary = "Every subscription.",
               .answer = "{subscriptions: [Subscription]}",
               .shapes = webhook_shapes},
              &list),
        showing_secret(route("POST", "/_rf/webhooks",
                             {.summary = "Adds a subscription; its secret is shown this once.",
                              .answer = "{...Subscription, secret?: string}",
                              .body = settable,
                              .shapes = webhook_shapes},
                             &add)),
        route("GET", one,
              {.summary = "One subscription.", .answer = "Subscription", .shapes = webhook_shapes},
              &show),
        route("POST", one + "/edit",
              {.summary = "Changes what is named, and leaves the rest.",
               .answer = "Subscription",
               .body = settable,
               .shapes = webhook_shapes},
              &edit),
        route("POST", one + "/pause", turn("Lets its events wait."), &pause),
        route("POST", one + "/resume", turn("Sends what has waited, and goes on."), &resume),
        route("POST", one + "/disable", turn("Lets events pass it by."), &disable),
        route("POST", one + "/enable", turn("Tells it of events again."), &enable),
        showing_secret(route("POST", one + "/rotate",
                             {.summary = "A new secret; the one before signs too, for a day.",
                              .answer = "{id: uuid, secret?: string, publicKey?: string,"
                                        " previousSecretUntil: time}",
                              .body = "{secret?: string}"},
                             &rotate)),
        route("POST", one + "/test",
              {.summary = "Sends a test now, or the example of a type, and shows what came back.",
               .answer = "{delivered: boolean, tookMs: integer, httpStatus?: integer,"
                         " answer?: string, error?: string,"
                         " request: {headers: any, body: string}}",
               .body = "{eventType?: string}"},
              &test),
        route("POST", one + "/remove",
              {.summary = "Removes it; deliveries that wait are given up.",
               .answer = "{id: uuid, removed: boolean}"},
              &remove),
    };
}

}  // namespace posthorn
