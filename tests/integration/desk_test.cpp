// The page of the admin listener, from the real program.
#include <csignal>

#include "sidecar_fixture.hpp"

namespace posthorn::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

class desk : public testing::Test {
protected:
    test::temporary_directory folder_;
};

test::raw_response get(const sidecar& from, std::size_t listener, const std::string& path) {
    test::raw_http connection(static_cast<std::uint16_t>(std::stoi(from.port(listener))));
    connection.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return connection.receive();
}

TEST_F(desk, is_shown_on_the_admin_listener_alone) {
    sidecar orders(folder_, "orders", free_ports);
    for (const auto* const path : {"/", "/desk/", "/desk/destinations"}) {
        EXPECT_EQ(get(orders, 0, path).status, 404) << path;
        const auto page = get(orders, 1, path);
        EXPECT_EQ(page.status, 200) << path;
        EXPECT_THAT(page.body, HasSubstr("<div id=\"desk\">"));
        EXPECT_THAT(page.head, HasSubstr("Content-Type: text/html"));
        EXPECT_THAT(page.head, HasSubstr("Content-Security-Policy: default-src 'none'"));
        EXPECT_THAT(page.head, HasSubstr("X-Content-Type-Options: nosniff"));
        EXPECT_THAT(page.head, HasSubstr("Cache-Control: no-store"));
    }
    orders.stop();
}

TEST_F(desk, lets_browsers_keep_its_script_and_nothing_else) {
    sidecar orders(folder_, "orders", free_ports);
    const auto page = get(orders, 1, "/").body;
    const auto begin = page.find("/desk/assets/desk-");
    const auto script = get(orders, 1, page.substr(begin, page.find('"', begin) - begin));
    EXPECT_EQ(script.status, 200);
    EXPECT_THAT(script.head, HasSubstr("Content-Type: text/javascript"));
    EXPECT_THAT(script.head, HasSubstr("immutable"));
    EXPECT_THAT(script.head, Not(HasSubstr("no-store")));
    EXPECT_THAT(get(orders, 1, "/_rf/health").head, HasSubstr("no-store"));
    orders.stop();
}

TEST_F(desk, comes_without_a_key_and_what_it_shows_does_not) {
    sidecar orders(folder_, "orders",
                   std::string(free_ports) +
                       "[admin]\nkeys = [{ name = \"wall\", role = \"viewer\", hash = "
                       "\"sha256:" +
                       std::string(64, 'a') + "\" }]\n");
    EXPECT_EQ(get(orders, 1, "/").status, 200);
    EXPECT_EQ(get(orders, 1, "/_rf/health").status, 401);
    orders.stop();
}

}  // namespace
}  // namespace posthorn::integration
