#include "admin/link_routes.hpp"

#include "operations/links.hpp"
#include "unit/admin/admin_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class link_routes : public admin_fixture {
protected:
    uuid enqueue_because_of(const std::string& cause) {
        const auto id = enqueue("billing");
        change("UPDATE outbox_messages SET causation_id = '" + cause + "' WHERE message_id = '" +
               id.to_string() + "'");
        return id;
    }
    void take_in(const uuid& id) {
        run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.inbox().insert({.key = {"shop", id},
                                            .endpoint = "Order",
                                            .processed_at = loop.time().wall(),
                                            .expires_at = loop.time().wall() + 48h}));
            return {};
        });
    }
    static std::vector<std::string> ids_of(const boost::json::value& told) {
        std::vector<std::string> all;
        for (const auto& each : told.at("caused").as_array())
            all.emplace_back(each.at("messageId").as_string());
        return all;
    }
};

TEST_F(link_routes, lead_from_what_was_taken_in_to_what_it_caused_and_back) {
    for (int i = 0; i < 100; ++i) enqueue();
    loop.run_for(1h);
    const auto order = ids.next();
    take_in(order);
    const auto charge = enqueue_because_of(order.to_string());
    const auto told = enqueue_because_of(order.to_string());
    const auto receipt = enqueue_because_of(charge.to_string());
    loop.run_for(1h);
    for (int i = 0; i < 100; ++i) enqueue();

    const auto of_order = get_json("/_rf/links/" + order.to_string());
    EXPECT_THAT(ids_of(of_order), testing::ElementsAre(charge.to_string(), told.to_string()));
    EXPECT_EQ(of_order.at("taken").at(0).at("sourceServiceId").as_string(), "shop");
    EXPECT_FALSE(of_order.at("more").as_bool());
    EXPECT_FALSE(of_order.as_object().contains("cause"));
    EXPECT_FALSE(of_order.as_object().contains("sent")) << "another node has sent it";

    const auto of_charge = get_json("/_rf/links/" + charge.to_string());
    EXPECT_THAT(ids_of(of_charge), testing::ElementsAre(receipt.to_string()));
    EXPECT_EQ(of_charge.at("sent").at("messageId").as_string(), charge.to_string());
    EXPECT_EQ(of_charge.at("sent").at("status").as_string(), "Pending");
    EXPECT_EQ(of_charge.at("cause").at("messageId").as_string(), order.to_string());
    EXPECT_EQ(of_charge.at("cause").at("taken").at("endpoint").as_string(), "Order");
    const auto of_receipt = get_json("/_rf/links/" + receipt.to_string());
    EXPECT_EQ(of_receipt.at("cause").at("sent").at("status").as_string(), "Pending");
    EXPECT_TRUE(of_receipt.at("caused").as_array().empty());
}

TEST_F(link_routes, say_when_they_did_not_look_at_all_that_came_later) {
    const auto first = enqueue();
    for (int i = 0; i < 20; ++i) enqueue();
    const auto late = enqueue_because_of(first.to_string());
    const auto few = find_links({&store()}, first, {.rows_max = 10});
    ASSERT_TRUE(few);
    EXPECT_TRUE(few->caused.empty());
    EXPECT_TRUE(few->more);
    const auto all = find_links({&store()}, first, {.rows_max = 100});
    ASSERT_TRUE(all);
    ASSERT_EQ(all->caused.size(), 1U);
    EXPECT_EQ(all->caused[0].id, late.to_string());
    EXPECT_FALSE(all->more);
}

TEST_F(link_routes, of_a_message_that_is_not_known_find_nothing) {
    const auto told = get_json("/_rf/links/" + ids.next().to_string());
    EXPECT_TRUE(told.at("taken").as_array().empty());
    EXPECT_TRUE(told.at("caused").as_array().empty());
    EXPECT_EQ(get("/_rf/links/x").status, 400);
    EXPECT_EQ(ask("GET", "/_rf/links/" + ids.next().to_string()).status, 401);
}

}  // namespace
}  // namespace posthorn
