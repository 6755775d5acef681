#include "admin/session_routes.hpp"

#include <array>
#include <memory>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/access/sign_in_limit.hpp"
#include "feature/answers.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

// `{"key":"phk_…"}`, of which no error quotes anything.
result<std::string> key_in(std::string_view body) {
    boost::system::error_code wrong;
    const auto parsed = json::parse(body, wrong);
    const auto* const fields = wrong ? nullptr : parsed.if_object();
    const auto* const key = fields && fields->size() == 1 ? fields->if_contains("key") : nullptr;
    if (key == nullptr || !key->is_string())
        return fail(error_code::invalid_argument, R"(send the key as {{"key":"phk_…"}})");
    return std::string(key->as_string());
}

json::object to_json(const admin_caller& who) {
    json::array rights;
    if (who.rights.payloads) rights.emplace_back("payloads");
    if (who.rights.secrets) rights.emplace_back("secrets");
    json::object shown{{"name", who.name},
                       {"role", to_string(who.role)},
                       {"rights", std::move(rights)},
                       {"by", to_string(who.by)}};
    if (!who.csrf.empty()) shown["csrf"] = who.csrf;
    if (who.until) shown["until"] = to_iso8601(*who.until);
    return shown;
}

/// The routes' handlers.
class session_endpoints {
public:
    explicit session_endpoints(session_parts parts) : parts_(parts) {}

    task<http_response> sign_in(http_request request);
    task<http_response> sign_out(http_request request);

private:
    [[nodiscard]] http_response refuse(const http_request& request, admin_refusal why);
    [[nodiscard]] std::string cookie(const http_request& request, std::string_view token,
                                     std::chrono::seconds lasts) const;

    session_parts parts_;
    std::mutex mutex_;
    sign_in_limit limit_;
};

std::string session_endpoints::cookie(const http_request& request, std::string_view token,
                                      std::chrono::seconds lasts) const {
    return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}",
                       parts_.access.cookie_name(), token, lasts.count(),
                       parts_.access.came_over_tls(request) ? "; Secure" : "");
}

http_response session_endpoints::refuse(const http_request& request, admin_refusal why) {
    why.who = parts_.access.address_of(request);
    return refused(parts_.kept, request, why);
}

task<http_response> session_endpoints::sign_in(http_request request) {
    if (auto elsewhere = refuse_foreign_page(request)) co_return refuse(request, *elsewhere);
    const auto given = key_in(request.body);
    if (!given) co_return answer_to_error(given.error());
    const auto address = parts_.access.address_of(request);
    const auto key = parts_.access.find(*given);
    {
        const std::scoped_lock lock(mutex_);
        const auto now = parts_.time.steady();
        if (const auto wait = limit_.wait(address, now)) {
            auto response = refuse(
                request,
                {429, {}, fmt::format("too many wrong keys; try again in {} s", wait->count())});
            response.headers.add("Retry-After", std::to_string(wait->count()));
            co_return response;
        }
        if (!key) limit_.failed(address, now);
    }
    if (!key) co_return refuse(request, {401, {}, "this key is not known here"});
    auto made = parts_.sessions.open(key->hash);
    parts_.log.info("{Who} signed in from {Address}", {{"Who", key->name}, {"Address", address}});
    auto response = json_response(200, json::serialize(to_json({.name = key->name,
                                                                .role = key->role,
                                                                .rights = key->rights,
                                                                .by = admin_way::session,
                                                                .csrf = made.about.csrf,
                                                                .until = made.about.until})));
    response.headers.add("Set-Cookie", cookie(request, made.token, admin_sessions::lasts));
    response.known_caller = true;
    co_return response;
}

task<http_response> session_endpoints::sign_out(http_request request) {
    if (const auto token = parts_.access.session_token(request)) parts_.sessions.close(*token);
    auto response = json_response(200, R"({"signedOut":true})");
    response.headers.add("Set-Cookie", cookie(request, "", std::chrono::seconds{0}));
    co_return response;
}

task<http_response> who_am_i(admin_caller who) {
    co_return json_response(200, json::serialize(to_json(who)));
}

constexpr std::array caller_shapes{
    named_shape{"Caller",
                "{name: string, role: 'viewer' | 'worker' | 'operator', rights: [string],"
                " by: 'loopback' | 'key' | 'session' | 'proxy', csrf?: string, until?: time}"}};

}  // namespace

void add_session_routes(admin_surface& into, session_parts parts) {
    const auto with = std::make_shared<session_endpoints>(parts);  // As long as a route lives.
    into.add_open("POST", "/_rf/session",
                  {.summary = "Opens a session with a key, and sets its cookie.",
                   .answer = "Caller",
                   .body = "{key: string}",
                   .shapes = caller_shapes},
                  [with](http_request request) { return with->sign_in(std::move(request)); });
    into.add(
        {"DELETE",
         "/_rf/session",
         std::nullopt,
         {.summary = "Ends the session.", .answer = "{signedOut: boolean}"},
         [with](http_request request, const auto&) { return with->sign_out(std::move(request)); }});
    into.add(
        {"GET",
         "/_rf/whoami",
         std::nullopt,
         {.summary = "Who asks, and what they may.", .answer = "Caller", .shapes = caller_shapes},
         [](const auto&, admin_caller who) { return who_am_i(std::move(who)); }});
}

}  // namespace posthorn
