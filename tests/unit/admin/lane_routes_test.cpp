#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;

class lane_routes : public admin_fixture {};

// With slashes, a colon and an ampersand, each of which ends something in another place of a URL.
TEST_F(lane_routes, take_a_destination_that_is_a_url) {
    const std::string url = "https://stock.example:7400/a&b";
    const std::string encoded = "https%3A%2F%2Fstock.example%3A7400%2Fa%26b";
    const auto lane = "/_rf/outbox/lanes/" + encoded;
    const auto id = enqueue(url);
    enqueue("https://stock.example:7400/a");
    const auto listed = get_json("/_rf/outbox?destination=" + encoded);
    ASSERT_EQ(listed.at("messages").as_array().size(), 1U);
    EXPECT_EQ(listed.at("messages").at(0).at("messageId").as_string(), id.to_string());

    EXPECT_EQ(ask("POST", lane + "/pause?reason=stocktaking", boss.key).status, 200);
    EXPECT_EQ(text("SELECT destination FROM outbox_paused"), url);
    wait_a_second();
    EXPECT_THAT(get("/_rf/outbox/lanes").body, HasSubstr(url));
    EXPECT_EQ(ask("POST", lane + "/try", boss.key).status, 200);
    EXPECT_EQ(tried, std::vector<std::string>{url});
    EXPECT_EQ(ask("POST", lane + "/resume", boss.key).status, 200);
    EXPECT_EQ(text("SELECT destination FROM outbox_paused"), "");

    const auto dead = bury(url);
    EXPECT_THAT(get("/_rf/dead?destination=" + encoded).body, HasSubstr(dead.to_string()));
    EXPECT_EQ(get_json("/_rf/dead/groups?destination=" + encoded).at("groups").as_array().size(),
              1U);
}

}  // namespace
}  // namespace posthorn
