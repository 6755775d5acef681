#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

class node_split : public node_test {
protected:
    /// A service whose inbox has a file of its own.
    [[nodiscard]] node_options split(const std::string& service) const {
        auto made = options(service);
        made.store.inbox_database = path(service + "-inbox");
        return made;
    }
};

TEST_F(node_split, handlers_work_in_the_inbox_file_and_what_they_send_leaves_from_there) {
    database(path("relay-inbox"), database::make).run("CREATE TABLE seen (payload TEXT)");
    node orders(options("orders"));
    node relay(split("relay"));
    node billing(options("billing"));
    execute(billing, "CREATE TABLE charges (payload TEXT)");
    relay.handle("OrderApproved", [](context& c, const message& m) {
        c.execute("INSERT INTO seen VALUES (?)", m.payload);
        c.send("billing", "Charge", m.payload);
    });
    billing.handle("Charge", [](context& c, const message& m) {
        c.execute("INSERT INTO charges VALUES (?)", m.payload);
    });
    for (auto* one : {&billing, &relay, &orders}) one->start();
    orders.send("relay", "OrderApproved", R"({"orderId":"o1"})");
    ASSERT_TRUE(
        test::eventually([&] { return integer(billing, "SELECT count(*) FROM charges") == 1; }));
    relay.stop();
    EXPECT_EQ(database(path("relay-inbox")).text("SELECT payload FROM seen"),
              R"({"orderId":"o1"})");
    EXPECT_EQ(database(path("relay-inbox")).text("SELECT count(*) FROM inbox_messages"), "1");
    EXPECT_EQ(database(path("relay")).text("SELECT count(*) FROM inbox_messages"), "0");
}

TEST_F(node_split, what_the_service_sends_itself_leaves_from_its_own_file) {
    node relay(split("relay"));
    relay.send("billing", "Charge", "{}");
    EXPECT_EQ(database(path("relay")).text("SELECT count(*) FROM outbox_messages"), "1");
    EXPECT_EQ(database(path("relay-inbox")).text("SELECT count(*) FROM outbox_messages"), "0");
    EXPECT_EQ(relay.stats().pending, 1);
}

}  // namespace
}  // namespace posthorn::integration
