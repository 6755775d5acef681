#include "webhook/routes/portal_routes.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/assert.hpp"
#include "base/text/percent.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "webhook/routes/route_kit.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::string_view portal_root = "/webhooks/portal";
constexpr std::string_view desk_root = "/_rf/webhooks";
constexpr std::size_t tenant_bytes_max = 256;
constexpr std::int64_t endpoints_of_tenant_max = 100;

/// A route that subscribers have too, by its path on either side.
struct shared_route {
    std::string_view method;
    std::string_view path;
};
constexpr std::array shared_routes{
    shared_route{"GET", "/endpoints"},
    shared_route{"GET", "/types"},
    shared_route{"POST", ""},
    shared_route{"GET", "/{id}"},
    shared_route{"GET", "/{id}/health"},
    shared_route{"GET", "/{id}/recover"},
    shared_route{"GET", "/{id}/deliveries"},
    shared_route{"GET", "/{id}/deliveries/{seq}"},
    shared_route{"POST", "/{id}/edit"},
    shared_route{"POST", "/{id}/pause"},
    shared_route{"POST", "/{id}/resume"},
    shared_route{"POST", "/{id}/disable"},
    shared_route{"POST", "/{id}/enable"},
    shared_route{"POST", "/{id}/rotate"},
    shared_route{"POST", "/{id}/recover"},
    shared_route{"POST", "/{id}/deliveries/{seq}/retry"},
    shared_route{"POST", "/{id}/remove"},
};

// Texts in these answers were chosen by strangers: no browser may take one for anything but what it
// is said to be, nor keep it.
http_response without_cache(http_response answer) {
    answer.headers.add("Cache-Control", "no-store");
    answer.headers.add("X-Content-Type-Options", "nosniff");
    return answer;
}

/// Who asks, or the refusal.
std::expected<portal_grant, http_response> let_in(const webhook_portal& with,
                                                  const http_request& request) {
    constexpr std::string_view scheme = "bearer ";  // In whatever letters.
    const std::string_view shown = request.headers.find("Authorization").value_or("");
    const auto lower = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    const bool is_token = std::ranges::equal(shown.substr(0, scheme.size()), scheme, {}, lower);
    const auto grant =
        is_token ? with.tokens->verify(shown.substr(scheme.size()), with.desk.env.clock.wall())
                 : std::nullopt;
    if (!grant)
        return std::unexpected(error_response(
            401, "access_denied",
            "this needs a token of the portal, and one whose time is not over; get a new one"));
    if (request.method != "GET" && request.method != "HEAD" && !grant->may_write)
        return std::unexpected(
            error_response(403, "access_denied", "this token lets look, and change nothing"));
    return *grant;
}

/// The subscription of a path if it is the tenant's own; of another's there is none.
task<std::expected<subscription_set::target, http_response>> own_target(
    const webhook_portal& with, const portal_grant& grant, const http_request& request) {
    const auto id = subscription_in(request);
    if (!id) co_return std::unexpected(answer_to_error(id.error()));
    const auto all = co_await with.desk.subscriptions.refresh();
    if (!all) co_return std::unexpected(answer_to_error(all.error()));
    auto found = (*all)->find(*id);
    if (!found || found->of.tenant != grant.tenant)
        co_return std::unexpected(answer_to_error(no_such_subscription(*id, {})));
    co_return found;
}

/// Asks for the tenant's own, whatever was asked for.
result<> narrow_query(http_request& request, const portal_grant& grant) {
    constexpr std::array<std::string_view, 3> known{"state", "text", "limit"};
    POSTHORN_TRY(read_query_fields(request.query, known));
    if (!request.query.empty()) request.query += '&';
    request.query += "tenant=" + percent_encode(grant.tenant);
    return {};
}

/// Makes a new one the tenant's own.
result<> narrow_body(http_request& request, const portal_grant& grant) {
    boost::system::error_code wrong;
    auto body = json::parse(request.body, wrong);
    if (wrong || !body.is_object())
        return fail(error_code::malformed_request, "the body is not a JSON object");
    auto& fields = body.as_object();
    if (fields.contains("tenant"))
        return fail(error_code::invalid_argument, "the tenant is that of the token; leave it out");
    fields["tenant"] = grant.tenant;
    request.body = json::serialize(body);
    return {};
}

result<> leave_room(const subscription_set& all, const portal_grant& grant) {
    const auto own = std::ranges::count_if(
        all.all(), [&](const auto& each) { return each->of.tenant == grant.tenant; });
    if (own < endpoints_of_tenant_max) return {};
    return fail(error_code::state_changed, "there are {} endpoints; no more can be made", own);
}

/// What is for operators alone is taken out: what ails the node, and how much others have.
void hide(json::value& shown) {
    if (auto* const fields = shown.if_object()) {
        if (fields->contains("trouble")) (*fields)["trouble"] = "it cannot be sent to at present";
        fields->erase("deadAtLeast");
        if (auto* const all = fields->if_contains("endpoints")) hide(*all);
    } else if (auto* const list = shown.if_array()) {
        for (auto& each : *list) hide(each);
    }
}

http_response hidden(http_response answer) {
    boost::system::error_code wrong;
    auto shown = json::parse(answer.body, wrong);
    if (wrong) return answer;
    hide(shown);
    answer.body = json::serialize(shown);
    return answer;
}

task<http_response> answer_shared(const webhook_portal& with, const admin_route& route,
                                  http_request request) {
    const auto grant = let_in(with, request);
    if (!grant) co_return grant.error();
    if (request.parameters.contains("id")) {
        const auto own = co_await own_target(with, *grant, request);
        if (!own) co_return own.error();
    } else if (request.method == "POST") {
        const auto all = co_await with.desk.subscriptions.refresh();
        if (!all) co_return answer_to_error(all.error());
        if (const auto room = leave_room(**all, *grant); !room)
            co_return answer_to_error(room.error());
        if (const auto said = narrow_body(request, *grant); !said)
            co_return answer_to_error(said.error());
    } else if (const auto asked = narrow_query(request, *grant); !asked) {
        co_return answer_to_error(asked.error());
    }
    const bool changes = request.method == "POST";
    const auto path = request.path;
    auto answer = hidden(co_await route.answer(
        std::move(request), admin_caller{.name = "portal of " + grant->tenant,
                                         .rights = {.payloads = true, .secrets = grant->may_write},
                                         .by = admin_way::key}));
    if (changes)
        with.desk.env.log.info(
            "Webhooks: the portal of {Tenant} asked for {Path}: {Status}",
            {{"Tenant", grant->tenant}, {"Path", path}, {"Status", std::int64_t{answer.status}}});
    co_return answer;
}

task<http_response> answer_test(const webhook_portal& with, http_request request) {
    const auto grant = let_in(with, request);
    if (!grant) co_return grant.error();
    const auto own = co_await own_target(with, *grant, request);
    if (!own) co_return own.error();
    auto sample = co_await read_test_request(with.desk, std::move(request.body));
    if (!sample) co_return answer_to_error(sample.error());
    co_return hidden(
        co_await send_test(with.desk, *own, *std::move(sample), test_reader::subscriber));
}

std::string_view rights_of(const portal_grant& grant) {
    return grant.may_write ? "read,write" : "read";
}

/// What a token lets its holder do, so that a page shows that and no more.
task<http_response> show_token(const webhook_portal& with, http_request request) {
    const auto grant = let_in(with, request);
    if (!grant) co_return grant.error();
    const auto left =
        std::chrono::floor<std::chrono::seconds>(grant->until - with.desk.env.clock.wall());
    co_return answer_with({{"tenant", grant->tenant},
                           {"rights", rights_of(*grant)},
                           {"until", to_iso8601(grant->until)},
                           {"secondsLeft", left.count()}});
}

task<http_response> without_cache_of(task<http_response> work) {
    auto answer = without_cache(co_await std::move(work));
    answer.known_caller = answer.status != 401;  // All else is told to those with a token alone.
    co_return answer;
}

/// `read`, `write` or both, in any order.
result<bool> read_rights(std::string_view text) {
    bool write = false;
    while (!text.empty()) {
        const auto one = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), one.size() + 1));
        if (one != "read" && one != "write")
            return fail(error_code::invalid_argument,
                        "'{}' is not a right; there are read and write", clean_utf8(one, 100));
        write = write || one == "write";
    }
    return write;
}

struct token_request {
    portal_grant grant;
    std::chrono::seconds life = std::chrono::hours{1};
};

result<token_request> read_token_request(std::string_view text) {
    boost::system::error_code wrong;
    const auto body = json::parse(text, wrong);
    if (wrong || !body.is_object())
        return fail(error_code::malformed_request, "the body is not a JSON object");
    token_request made;
    for (const auto& [name, value] : body.as_object()) {
        if (name == "tenant" && value.is_string())
            made.grant.tenant = value.as_string();
        else if (name == "rights" && value.is_string()) {
            POSTHORN_LET(write, read_rights(value.as_string()));
            made.grant.may_write = write;
        } else if (name == "forSeconds" && value.is_int64())
            made.life = std::chrono::seconds(value.as_int64());
        else
            return fail(
                error_code::invalid_argument,
                "'{}' cannot be said of a token so; there are tenant, rights and forSeconds",
                clean_utf8(name, 100));
    }
    const auto& tenant = made.grant.tenant;
    if (tenant.empty() || tenant.size() > tenant_bytes_max || !is_utf8(tenant))
        return fail(error_code::invalid_argument, "give the tenant, 1 to {} bytes of UTF-8",
                    tenant_bytes_max);
    if (made.life < std::chrono::seconds{1} || made.life > portal_tokens::life_max)
        return fail(error_code::invalid_argument, "forSeconds cannot be {}; write 1 to {}",
                    made.life.count(), std::chrono::seconds(portal_tokens::life_max).count());
    return made;
}

task<http_response> mint(const webhook_portal& with, http_request request, admin_caller who) {
    if (!who.rights.secrets) co_return refuse_secret();
    if (!with.tokens)
        co_return answer_to_error(
            {error_code::state_changed,
             "the portal is off; set webhooks.portal and webhooks.key, and start the node anew"});
    auto asked = read_token_request(request.body);
    if (!asked) co_return answer_to_error(asked.error());
    asked->grant.until = with.desk.env.clock.wall() + asked->life;
    co_return answer_with({{"token", with.tokens->mint(asked->grant)},
                           {"tenant", asked->grant.tenant},
                           {"rights", rights_of(asked->grant)},
                           {"until", to_iso8601(asked->grant.until)}});
}

}  // namespace

admin_route portal_token_route(const webhook_portal& with) {
    return {"POST",
            "/_rf/webhooks/portal-tokens",
            admin_role::operator_,
            {.summary = "A token for the portal, for one tenant and a while.",
             .answer = "{token: string, tenant: string, rights: string, until: time}",
             .body = "{tenant: string, rights?: string, forSeconds?: integer}"},
            [&with](http_request request, admin_caller who) {
                return mint(with, std::move(request), std::move(who));
            }};
}

std::vector<public_route> portal_routes(const webhook_portal& with) {
    std::vector<public_route> made;
    if (!with.tokens) return made;
    for (const auto& each : shared_routes) {
        const auto found = std::ranges::find_if(with.routes, [&](const admin_route& one) {
            return one.method == each.method &&
                   one.path == std::string(desk_root) + std::string(each.path);
        });
        POSTHORN_ASSERT(found != with.routes.end());
        made.push_back({std::string(each.method), std::string(portal_root) + std::string(each.path),
                        [&with, &route = *found](http_request request) {
                            return without_cache_of(answer_shared(with, route, std::move(request)));
                        }});
    }
    made.push_back({"POST", std::string(portal_root) + "/{id}/test", [&with](http_request request) {
                        return without_cache_of(answer_test(with, std::move(request)));
                    }});
    made.push_back({"GET", std::string(portal_root) + "/token", [&with](http_request request) {
                        return without_cache_of(show_token(with, std::move(request)));
                    }});
    return made;
}

}  // namespace posthorn
