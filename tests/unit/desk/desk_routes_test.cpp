#include "desk/desk_routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "desk/desk_files.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::Not;

class desk_routes : public testing::Test {
protected:
    desk_routes() { add_desk_routes(routes_); }

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

TEST_F(desk_routes, show_the_page_at_every_address_of_it) {
    const auto page = get("/");
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr("<div id=\"desk\">"));
    for (const auto* const path :
         {"/desk", "/desk/", "/desk/dead", "/desk/messages/0197", "/desk/queues/17"})
        EXPECT_EQ(get(path).body, page.body) << path;
}

TEST_F(desk_routes, serve_every_file_that_the_page_names) {
    const auto page = get("/").body;
    int named = 0;
    for (const auto& file : desk_files()) {
        if (file.path == "index.html") continue;
        const auto address = "/desk/" + std::string(file.path);
        const auto answer = get(address);
        EXPECT_EQ(answer.status, 200) << address;
        EXPECT_EQ(answer.body, file.plain) << address;
        if (page.find(address) != page.npos) ++named;
    }
    EXPECT_EQ(named, 3) << "script, style and icon";
}

TEST_F(desk_routes, allow_no_code_but_the_files_of_the_node) {
    const auto policy = header(get("/"), "Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("script-src 'self';"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    const auto page = get("/").body;  // What the policy forbids is not in the page either.
    EXPECT_THAT(page, Not(HasSubstr("<style")));
    EXPECT_THAT(page, Not(HasSubstr("style=")));
    EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST_F(desk_routes, compress_for_those_who_take_it_and_stay_small) {
    std::size_t sent = 0;
    for (const auto& file : desk_files()) {
        const auto address = file.path == "index.html" ? "/" : "/desk/" + std::string(file.path);
        const auto packed = get(address, "br, gzip");
        EXPECT_EQ(header(packed, "Content-Encoding"), "gzip");
        EXPECT_TRUE(packed.body.starts_with("\x1f\x8b")) << address;
        EXPECT_EQ(header(get(address), "Content-Encoding"), "") << address;
        sent += packed.body.size();
    }
    EXPECT_LT(sent, 120U * 1024U);
}

TEST_F(desk_routes, let_browsers_keep_what_is_named_by_its_content) {
    for (const auto& file : desk_files())
        if (is_named_by_content(file.path))
            EXPECT_THAT(header(get("/desk/" + std::string(file.path)), "Cache-Control"),
                        HasSubstr("immutable"));
    EXPECT_EQ(header(get("/"), "Cache-Control"), "");
}

TEST_F(desk_routes, know_no_other_files) {
    EXPECT_EQ(get("/desk/assets/desk-00000000.js").status, 404);
    EXPECT_EQ(get("/desk/messages/0197/more").status, 404);
    EXPECT_EQ(get("/favicon.ico").status, 404);
}

}  // namespace
}  // namespace posthorn
