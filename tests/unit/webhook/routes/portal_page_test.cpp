#include "webhook/routes/portal_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "transport/http/router.hpp"
#include "webhook/routes/portal_files.hpp"

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(parse_embedders, reads_origins_with_commas_between) {
    EXPECT_THAT(parse_embedders("").value(), IsEmpty());
    EXPECT_THAT(parse_embedders("https://app.example").value(), ElementsAre("https://app.example"));
    EXPECT_THAT(
        parse_embedders("https://app.example:8443,  http://localhost:3000,https://[2001:db8::1]:8")
            .value(),
        ElementsAre("https://app.example:8443", "http://localhost:3000",
                    "https://[2001:db8::1]:8"));
}

TEST(parse_embedders, refuses_what_no_browser_calls_an_origin) {
    for (const auto* const wrong : {"app.example",
                                    "https://",
                                    "https://app.example/",
                                    "https://app.example/account",
                                    "https://App.example",
                                    "HTTPS://app.example",
                                    "https://*.example",
                                    "*",
                                    "'self'",
                                    "https://user@app.example",
                                    "https://app.example:",
                                    "https://app.example:0",
                                    "https://app.example:070",
                                    "https://app.example:70000",
                                    "https://app.example:443",
                                    "http://app.example:80",
                                    "https://app.example:x",
                                    "ftp://app.example",
                                    "null",
                                    "https://app.example;script-src",
                                    "https://a b",
                                    "https://app.example\n",
                                    "https://[::1",
                                    "https://[app]",
                                    "https://app.example\"><script>",
                                    "https://a.example,,https://b.example",
                                    "https://a.example https://b.example",
                                    "https://-a.example",
                                    "https://.example"}) {
        const auto read = parse_embedders(wrong);
        ASSERT_FALSE(read) << wrong;
        EXPECT_EQ(read.error().code(), error_code::invalid_argument) << wrong;
        EXPECT_THAT(read.error().what(), HasSubstr("is not an origin")) << wrong;
    }
}

TEST(portal_content_policy, lets_no_page_frame_it_but_those_that_are_named) {
    EXPECT_TRUE(portal_content_policy({}).ends_with("; frame-ancestors 'none'"));
    const auto named = portal_content_policy({"https://a.example", "https://b.example"});
    EXPECT_TRUE(named.ends_with("; frame-ancestors https://a.example https://b.example"));
    EXPECT_THAT(named, HasSubstr("default-src 'none'; script-src 'self'; style-src 'self';"));
    EXPECT_THAT(named, Not(HasSubstr("unsafe")));
}

class portal_page : public testing::Test {
protected:
    portal_page() {
        for (auto& each : portal_page_routes({"https://a.example", "https://b.example"}))
            routes_.add(each.method, each.path, std::move(each.answer));
    }

    http_response get(std::string path, std::string accepted = {}) {
        http_request request;
        request.method = "GET";
        request.path = std::move(path);
        if (!accepted.empty()) request.headers.add("Accept-Encoding", std::move(accepted));
        return loop_.run(routes_.handle(std::move(request)));
    }
    static std::string header(const http_response& from, std::string_view name) {
        return std::string(from.headers.find(name).value_or(""));
    }

private:
    virtual_loop loop_;
    router routes_;
};

TEST_F(portal_page, tells_its_script_who_may_hand_a_token_over) {
    const auto page = get("/webhooks/portal/");
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr("<div id=\"portal\">"));
    EXPECT_THAT(page.body, HasSubstr("<meta name=\"posthorn-embedders\""
                                     " content=\"https://a.example https://b.example\" />"));
    EXPECT_EQ(header(page, "Content-Security-Policy"),
              portal_content_policy({"https://a.example", "https://b.example"}));
    EXPECT_EQ(header(page, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(header(page, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(page, "Cache-Control"), "no-cache");
    EXPECT_EQ(header(page, "Content-Encoding"), "");
}

TEST_F(portal_page, is_found_without_the_slash_too) {
    const auto way = get("/webhooks/portal");
    EXPECT_EQ(way.status, 308);
    EXPECT_EQ(header(way, "Location"), "portal/");
}

TEST_F(portal_page, has_no_code_inside_and_names_every_file_that_it_needs) {
    const auto page = get("/webhooks/portal/").body;
    EXPECT_THAT(page, Not(HasSubstr("<style")));
    EXPECT_THAT(page, Not(HasSubstr("style=")));
    EXPECT_THAT(page, Not(HasSubstr("onload")));
    int named = 0;
    for (const auto& file : portal_files()) {
        if (file.path == "portal.html") continue;
        const auto answer = get("/webhooks/portal/" + std::string(file.path));
        EXPECT_EQ(answer.status, 200) << file.path;
        EXPECT_EQ(answer.body, file.plain) << file.path;
        EXPECT_EQ(header(answer, "X-Content-Type-Options"), "nosniff") << file.path;
        if (page.find("\"./" + std::string(file.path) + "\"") != page.npos) ++named;
    }
    EXPECT_EQ(named, 3) << "script, style and icon";
}

TEST_F(portal_page, stays_small_over_the_wire) {
    std::size_t sent = 0;
    for (const auto& file : portal_files()) {
        const auto packed =
            get(file.path == "portal.html" ? "/webhooks/portal/"
                                           : "/webhooks/portal/" + std::string(file.path),
                "br, gzip");
        sent += packed.body.size();
    }
    EXPECT_LT(sent, 40U * 1024U);
}

TEST_F(portal_page, knows_no_other_files) {
    EXPECT_EQ(get("/webhooks/portal/assets/portal-00000000.js").status, 404);
    EXPECT_EQ(get("/webhooks/portal/portal.html").status, 404);
    EXPECT_EQ(get("/webhooks/portal/assets/../portal.html").status, 404);
}

}  // namespace
}  // namespace posthorn
