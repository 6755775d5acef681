#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::Not;

class inbox_routes : public admin_fixture {
protected:
    void take_in(std::string_view source, const uuid& id, std::string_view response) {
        run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(
                tx.inbox().insert({.key = {source, id},
                                   .endpoint = "Charge",
                                   .hash = {std::byte{0xab}},
                                   .response = response,
                                   .processed_at = loop.time().wall(),
                                   .expires_at = loop.time().wall() + std::chrono::hours{1}}));
            return {};
        });
    }
    [[nodiscard]] static std::string path_of(const uuid& id) {
        return "/_rf/inbox/" + id.to_string();
    }
};

TEST_F(inbox_routes, show_a_message_of_each_sender_that_used_its_id) {
    const auto id = ids.next();
    take_in("shop", id, "{}");
    take_in("web", id, R"({"paid":true})");
    take_in("web", ids.next(), "{}");
    take_in("app", ids.next(), "{}");
    const auto all = get_json(path_of(id)).at("received").as_array();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].at("sourceServiceId"), "shop");
    const auto& of_web = all[1].as_object();
    EXPECT_EQ(of_web.at("sourceServiceId"), "web");
    EXPECT_EQ(of_web.at("endpoint"), "Charge");
    EXPECT_EQ(of_web.at("state"), "processed");
    EXPECT_EQ(of_web.at("processedAt").as_string(), to_iso8601(loop.time().wall()));
    EXPECT_EQ(of_web.at("responseBytes"), 13);
    EXPECT_EQ(std::string(of_web.at("bodyHash").as_string()).substr(0, 4), "ab00");
    const auto one = get_json(path_of(id) + "?source=web").at("received").as_array();
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].at("sourceServiceId"), "web");
}

TEST_F(inbox_routes, show_an_answer_only_to_a_key_with_the_right_to_payloads) {
    const auto id = ids.next();
    take_in("shop", id, R"({"secret":"canary"})");
    EXPECT_THAT(get(path_of(id)).body, Not(HasSubstr("canary")));
    EXPECT_EQ(ask("GET", path_of(id) + "?payload=true", viewer.key).status, 403);
    EXPECT_EQ(text("SELECT who FROM posthorn_audit ORDER BY seq DESC LIMIT 1"), "wall");
    const auto shown = ask("GET", path_of(id) + "?payload=true", boss.key);
    EXPECT_EQ(shown.status, 200);
    EXPECT_THAT(shown.body, HasSubstr("canary"));
}

TEST_F(inbox_routes, tell_a_claim_from_an_effect) {
    const auto id = ids.next();
    const auto now = loop.time().wall();
    run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.inbox().claim({.key = {"shop", id},
                                       .endpoint = "Charge",
                                       .hash = {},
                                       .owner = "node-1",
                                       .until = now + std::chrono::minutes{1},
                                       .expires_at = now + std::chrono::hours{1}},
                                      now));
        return {};
    });
    const auto received = get_json(path_of(id)).at("received").as_array();
    ASSERT_EQ(received.size(), 1U);
    EXPECT_EQ(received[0].at("state"), "at work");
    EXPECT_EQ(received[0].at("claimedBy"), "node-1");
    EXPECT_FALSE(received[0].as_object().contains("processedAt"));
}

TEST_F(inbox_routes, show_why_a_web_service_refused_it) {
    refused.note({.at = loop.time().wall(),
                  .id = ids.next(),
                  .source = "shop",
                  .endpoint = "Charge",
                  .status = 500,
                  .answer = "another"});
    const auto id = ids.next();
    refused.note({.at = loop.time().wall(),
                  .id = id,
                  .source = "shop",
                  .endpoint = "Charge",
                  .status = 422,
                  .answer = "no such card"});
    const auto seen = get_json(path_of(id));
    EXPECT_TRUE(seen.at("received").as_array().empty());
    ASSERT_EQ(seen.at("refused").as_array().size(), 1U);
    EXPECT_EQ(seen.at("refused").at(0).at("status"), 422);
    EXPECT_FALSE(seen.at("refused").at(0).as_object().contains("answer"));
    EXPECT_THAT(ask("GET", path_of(id) + "?payload=true", boss.key).body,
                HasSubstr("no such card"));
    EXPECT_EQ(get(path_of(id) + "?source=web").status, 404);
}

TEST_F(inbox_routes, find_what_was_taken_in_by_id_endpoint_state_and_time) {
    const auto id = ids.next();
    take_in("shop", id, "{}");
    take_in("web", id, "{}");
    loop.run_for(std::chrono::hours{1});
    take_in("shop", ids.next(), "{}");
    const auto found = [&](const std::string& query) {
        const auto page = get_json("/_rf/inbox?" + query);
        EXPECT_TRUE(page.at("next").is_null()) << query;
        return page.at("messages").as_array().size();
    };
    EXPECT_EQ(found(""), 3U);
    EXPECT_EQ(found("messageId=" + id.to_string()), 2U);
    EXPECT_EQ(found("source=web&messageId=" + id.to_string()), 1U);
    EXPECT_EQ(found("state=at%20work&messageId=" + id.to_string()), 0U);
    EXPECT_EQ(found("messageId=" + ids.next().to_string()), 0U);
    EXPECT_EQ(found("endpoint=Charge&state=processed"), 3U);
    EXPECT_EQ(found("endpoint=Ship"), 0U);
    const auto now = "since=" + to_iso8601(loop.time().wall());
    EXPECT_EQ(found(now), 1U);
    EXPECT_EQ(found(now + "&messageId=" + id.to_string()), 0U);
    EXPECT_EQ(get("/_rf/inbox?state=odd").status, 400);
    EXPECT_EQ(get("/_rf/inbox/failed?error=x&endpoint=y&messageId=" + id.to_string()).status, 200);
    EXPECT_EQ(get("/_rf/inbox/failed?messageId=7").status, 400);
}

TEST_F(inbox_routes, say_what_is_wrong_with_a_question) {
    EXPECT_EQ(get(path_of(ids.next())).status, 404);
    EXPECT_EQ(get("/_rf/inbox/17").status, 400);
    EXPECT_THAT(get(path_of(ids.next()) + "?colour=red").body,
                HasSubstr("'colour' cannot be asked"));
    EXPECT_EQ(get("/_rf/inbox/stats").status, 200) << "a name is not taken for an id";
}

}  // namespace
}  // namespace posthorn
