#include "admin/session_routes.hpp"

#include "admin_fixture.hpp"

namespace posthorn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

/// A browser before the admin routes.
class sessions : public admin_fixture {
protected:
    sessions() {
        admin_surface surface(routes, own_gate);
        add_session_routes(surface, {guard, open_sessions, *kept, loop.time(), log});
        described = describe_routes(surface.all(), "9.8.7");
        routes.add("POST", "/change", own_gate.guarded(admin_role::operator_, answer_ok));
        routes.add("GET", "/look", own_gate.guarded(admin_role::viewer, answer_ok));
        routes.add("POST", "/take", own_gate.guarded(admin_role::worker, answer_ok));
    }

    static task<http_response> answer_ok(http_request, admin_caller who) {
        co_return json_response(200, who.name);
    }
    static http_request from(std::string peer, http_headers headers = {}, std::string body = {}) {
        return {.method = {},
                .path = {},
                .query = {},
                .headers = std::move(headers),
                .body = std::move(body),
                .peer = std::move(peer)};
    }
    http_response send(const std::string& method, const std::string& path, http_request request) {
        request.method = method;
        request.path = path;
        request.headers.add("Host", "127.0.0.1:7401");
        auto response = loop.run(routes.handle(std::move(request)));
        if (path.starts_with("/_rf/"))
            EXPECT_EQ(test::unlike_description(described, method, path, response), "");
        return response;
    }
    http_response sign_in(const std::string& key, std::string peer = "10.0.0.1",
                          http_headers headers = {}) {
        return send("POST", "/_rf/session",
                    from(std::move(peer), std::move(headers), R"({"key":")" + key + R"("})"));
    }

    struct browser {
        std::string cookie;
        std::string csrf;
    };
    browser signed_in(const std::string& key) {
        const auto response = sign_in(key);
        EXPECT_EQ(response.status, 200) << response.body;
        const std::string cookie(response.headers.find("Set-Cookie").value_or(""));
        return {cookie.substr(0, cookie.find(';')),
                std::string(boost::json::parse(response.body).at("csrf").as_string())};
    }
    std::uint16_t status_of(const std::string& method, const std::string& path, const browser& as) {
        http_headers headers{{"Cookie", "theme=dark; " + as.cookie}};
        if (!as.csrf.empty()) headers.add("X-Posthorn-CSRF", as.csrf);
        return send(method, path, from("10.0.0.1", std::move(headers))).status;
    }

    new_admin_key proxy_secret = make_admin_key(random);
    admin_proxy proxy{
        .secret = *parse_key_hash(proxy_secret.hash),
        .user_header = "X-Forwarded-User",
        .users = {{"ann", admin_role::operator_, {.payloads = true}}, {"*", admin_role::viewer}}};
    new_admin_key robot = make_admin_key(random);
    std::vector<admin_key> keys{
        {"wall", admin_role::viewer, *parse_key_hash(viewer.hash)},
        {"robot", admin_role::worker, *parse_key_hash(robot.hash)},
        {"desk-3", admin_role::operator_, *parse_key_hash(boss.hash), {.payloads = true}}};
    admin_sessions open_sessions{random, loop.time()};
    admin_access guard{
        {.loopback = true, .keys = keys, .proxy = proxy, .sessions = &open_sessions}};
    key_gate own_gate{guard, *kept};
};

TEST_F(sessions, a_key_opens_one_whose_cookie_no_script_and_no_other_site_gets) {
    const auto response = sign_in(boss.key);
    ASSERT_EQ(response.status, 200);
    const auto cookie = response.headers.find("Set-Cookie").value_or("");
    EXPECT_THAT(cookie, AllOf(HasSubstr("; HttpOnly"), HasSubstr("; SameSite=Strict"),
                              HasSubstr("; Path=/"), HasSubstr("; Max-Age=28800")));
    EXPECT_THAT(cookie, Not(HasSubstr("Secure")));  // Plain HTTP: it would not come back.
    const auto told = boost::json::parse(response.body);
    EXPECT_EQ(told.at("name"), "desk-3");
    EXPECT_EQ(told.at("role"), "operator");
    EXPECT_EQ(told.at("rights"), boost::json::array({"payloads"}));
    EXPECT_EQ(told.at("by"), "session");
    EXPECT_THAT(response.body, Not(HasSubstr(boss.key)));
    EXPECT_TRUE(response.known_caller);
}

TEST_F(sessions, each_does_what_its_key_may) {
    struct row {
        std::string key;
        std::uint16_t look, take, change;
    };
    for (const auto& [key, look, take, change] :
         {row{viewer.key, 200, 403, 403}, row{robot.key, 403, 200, 403},
          row{boss.key, 200, 200, 200}}) {
        const auto as = signed_in(key);
        EXPECT_EQ(status_of("GET", "/look", as), look);
        EXPECT_EQ(status_of("POST", "/take", as), take);
        EXPECT_EQ(status_of("POST", "/change", as), change);
        EXPECT_EQ(status_of("GET", "/_rf/whoami", as), 200);
    }
}

TEST_F(sessions, a_change_without_its_token_is_refused_and_a_look_is_not) {
    const auto as = signed_in(boss.key);
    EXPECT_EQ(status_of("POST", "/change", {as.cookie, ""}), 403);
    EXPECT_EQ(status_of("POST", "/change", {as.cookie, "guess"}), 403);
    EXPECT_EQ(status_of("POST", "/change", {as.cookie, signed_in(boss.key).csrf}), 403);
    EXPECT_EQ(status_of("DELETE", "/_rf/session", {as.cookie, ""}), 403);
    EXPECT_EQ(status_of("GET", "/look", {as.cookie, ""}), 200);
    EXPECT_EQ(status_of("POST", "/change", as), 200);
    EXPECT_EQ(
        send("POST", "/change", from("10.0.0.1", {{"Authorization", "Bearer " + boss.key}})).status,
        200);
}

TEST_F(sessions, tell_their_token_again_to_a_page_that_was_reloaded) {
    const auto as = signed_in(viewer.key);
    const auto told = send("GET", "/_rf/whoami", from("10.0.0.1", {{"Cookie", as.cookie}}));
    EXPECT_EQ(boost::json::parse(told.body).at("csrf").as_string(), as.csrf);
    const auto by_key =
        send("GET", "/_rf/whoami", from("10.0.0.1", {{"Authorization", "Bearer " + viewer.key}}));
    EXPECT_EQ(boost::json::parse(by_key.body),
              boost::json::parse(R"({"name":"wall","role":"viewer","rights":[],"by":"key"})"));
}

TEST_F(sessions, end_after_eight_hours) {
    const auto as = signed_in(boss.key);
    loop.run_for(8h - 1ms);
    EXPECT_EQ(status_of("GET", "/look", as), 200);
    loop.run_for(1ms);
    EXPECT_EQ(status_of("GET", "/look", as), 401);
}

TEST_F(sessions, end_when_a_person_signs_out) {
    const auto as = signed_in(boss.key);
    const auto other = signed_in(boss.key);
    const auto out = send("DELETE", "/_rf/session",
                          from("10.0.0.1", {{"Cookie", as.cookie}, {"X-Posthorn-CSRF", as.csrf}}));
    EXPECT_EQ(out.status, 200);
    EXPECT_THAT(out.headers.find("Set-Cookie").value_or(""), HasSubstr("Max-Age=0"));
    EXPECT_EQ(status_of("GET", "/look", as), 401);
    EXPECT_EQ(status_of("GET", "/look", other), 200);
}

TEST_F(sessions, end_at_once_with_their_key_and_do_not_come_back_with_it) {
    const auto as = signed_in(boss.key);
    const auto wall = signed_in(viewer.key);
    guard.replace({keys[0], keys[1]}, proxy);
    const auto told = send("GET", "/look", from("10.0.0.1", {{"Cookie", as.cookie}}));
    EXPECT_EQ(told.status, 401);
    EXPECT_THAT(told.body, HasSubstr("its key was taken back"));
    EXPECT_EQ(status_of("GET", "/look", wall), 200);
    guard.replace(keys, proxy);
    EXPECT_EQ(status_of("GET", "/look", as), 401);
}

TEST_F(sessions, have_the_role_that_their_key_has_now) {
    const auto as = signed_in(boss.key);
    keys[2].role = admin_role::viewer;
    guard.replace(keys, proxy);
    EXPECT_EQ(status_of("GET", "/look", as), 200);
    EXPECT_EQ(status_of("POST", "/change", as), 403);
}

TEST_F(sessions, are_a_thousand_at_most_and_the_oldest_goes) {
    const auto first = signed_in(boss.key);
    loop.run_for(1ms);
    const auto second = signed_in(boss.key);
    for (int i = 0; i < 999; ++i) {
        loop.run_for(1ms);
        const auto one = signed_in(viewer.key);
    }
    EXPECT_EQ(status_of("GET", "/look", first), 401);
    EXPECT_EQ(status_of("GET", "/look", second), 200);
}

TEST_F(sessions, an_address_that_tried_ten_wrong_keys_has_to_wait) {
    for (int i = 0; i < 10; ++i) {
        const auto wrong = sign_in("phk_guess");
        EXPECT_EQ(wrong.status, 401);
        EXPECT_THAT(wrong.body, Not(HasSubstr("phk_guess")));
    }
    const auto held_back = sign_in(boss.key);
    EXPECT_EQ(held_back.status, 429);
    EXPECT_EQ(held_back.headers.find("Retry-After"), "60");
    EXPECT_EQ(sign_in(boss.key, "10.0.0.2").status, 200);
    loop.run_for(60s);
    EXPECT_EQ(sign_in(boss.key).status, 200);
    EXPECT_EQ(text("SELECT count(*) FROM posthorn_audit WHERE who = '10.0.0.1'"), "11");
}

TEST_F(sessions, a_sign_in_from_a_page_of_another_origin_is_refused) {
    EXPECT_EQ(sign_in(boss.key, "10.0.0.1", {{"Origin", "http://evil.example"}}).status, 403);
    EXPECT_EQ(sign_in(boss.key, "10.0.0.1", {{"Origin", "http://127.0.0.1:7401"}}).status, 200);
}

TEST_F(sessions, what_is_no_key_is_told_without_a_word_of_it) {
    for (const auto* body :
         {"", "{", "[]", "{}", R"({"key":7})", R"({"key":"canary","more":1})", R"("canary")"}) {
        const auto response = send("POST", "/_rf/session", from("10.0.0.1", {}, body));
        EXPECT_EQ(response.status, 400) << body;
        EXPECT_THAT(response.body, Not(HasSubstr("canary")));
    }
    EXPECT_EQ(sign_in(std::string(100'000, 'a')).status, 401);
}

TEST_F(sessions, a_stale_cookie_keeps_no_one_from_looking_where_that_needs_no_key) {
    const auto as = signed_in(boss.key);
    guard.replace({}, {});
    EXPECT_EQ(status_of("GET", "/look", as), 200);
    EXPECT_EQ(status_of("POST", "/change", as), 401);
}

/// What the proxy sends with a request of a person.
http_headers by_proxy(const std::string& user, const std::string& secret) {
    http_headers headers{{"X-Forwarded-User", user}};
    if (!secret.empty()) headers.add("X-Posthorn-Proxy-Secret", secret);
    return headers;
}

TEST_F(sessions, a_proxy_that_shows_its_secret_names_the_person) {
    const auto who = [&](const std::string& user) {
        const auto told =
            send("GET", "/_rf/whoami", from("10.9.9.9", by_proxy(user, proxy_secret.key)));
        EXPECT_EQ(told.status, 200) << told.body;
        return boost::json::parse(told.body);
    };
    EXPECT_EQ(who("ann").at("role"), "operator");
    EXPECT_EQ(who("ann").at("rights"), boost::json::array({"payloads"}));
    EXPECT_EQ(who("bob").at("role"), "viewer");
    EXPECT_EQ(who("bob").at("name"), "bob");
    EXPECT_EQ(who("*").at("role"), "viewer");

    // Its cookie travels by itself as a session's does, so a change needs the token too.
    auto change = by_proxy("ann", proxy_secret.key);
    EXPECT_EQ(send("POST", "/change", from("10.9.9.9", change)).status, 403);
    auto of_bob = change;
    of_bob.add("X-Posthorn-CSRF", std::string(who("bob").at("csrf").as_string()));
    EXPECT_EQ(send("POST", "/change", from("10.9.9.9", of_bob)).status, 403);
    change.add("X-Posthorn-CSRF", std::string(who("ann").at("csrf").as_string()));
    EXPECT_EQ(send("POST", "/change", from("10.9.9.9", change)).status, 200);
    EXPECT_EQ(
        text("SELECT outcome FROM posthorn_audit WHERE who = 'ann' ORDER BY seq DESC LIMIT 1"),
        "done");
}

TEST_F(sessions, a_name_is_not_believed_without_the_secret_beside_it) {
    for (const auto& secret : {std::string(), std::string("phk_guess"), proxy_secret.hash})
        EXPECT_EQ(send("GET", "/look", from("10.9.9.9", by_proxy("ann", secret))).status, 403);
    auto twice = by_proxy("bob", proxy_secret.key);
    twice.add("x-forwarded-user", "ann");
    EXPECT_EQ(send("GET", "/look", from("10.9.9.9", twice)).status, 403);
    guard.replace(keys, {.secret = proxy.secret, .user_header = "X-Forwarded-User", .users = {}});
    EXPECT_EQ(send("GET", "/look", from("10.9.9.9", by_proxy("ann", proxy_secret.key))).status,
              403);
}

TEST_F(sessions, headers_of_a_proxy_mean_nothing_where_none_is_configured) {
    guard.replace({}, {});
    const auto told =
        send("GET", "/_rf/whoami", from("127.0.0.1", by_proxy("ann", proxy_secret.key)));
    EXPECT_EQ(boost::json::parse(told.body).at("by"), "loopback");
    guard.replace(keys, {});
    EXPECT_EQ(send("GET", "/look", from("10.9.9.9", by_proxy("ann", proxy_secret.key))).status,
              401);
    const http_headers tls{{"X-Forwarded-Proto", "https"},
                           {"X-Posthorn-Proxy-Secret", "phk_guess"}};
    EXPECT_THAT(sign_in(boss.key, "10.9.9.9", tls).headers.find("Set-Cookie").value_or(""),
                Not(HasSubstr("Secure")));
}

TEST_F(sessions, a_proxy_with_tls_makes_the_cookie_secure_and_tells_who_is_behind_it) {
    const auto behind = [&](const std::string& address) {
        return http_headers{{"X-Posthorn-Proxy-Secret", proxy_secret.key},
                            {"X-Forwarded-Proto", "https"},
                            {"X-Forwarded-For", "6.6.6.6, " + address}};
    };
    EXPECT_THAT(
        sign_in(boss.key, "10.9.9.9", behind("10.0.0.1")).headers.find("Set-Cookie").value_or(""),
        HasSubstr("; Secure"));
    for (int i = 0; i < 10; ++i) sign_in("phk_guess", "10.9.9.9", behind("10.0.0.1"));
    EXPECT_EQ(sign_in(boss.key, "10.9.9.9", behind("10.0.0.1")).status, 429);
    EXPECT_EQ(sign_in(boss.key, "10.9.9.9", behind("10.0.0.2")).status, 200);
}

}  // namespace
}  // namespace posthorn
