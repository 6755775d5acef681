// Rows that are not what was stored.
#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

class node_checksum : public node_test {
protected:
    /// What no UPDATE can do: the row changes, and what is stored beside it does not.
    void change_on_disk(const std::string& sql) {
        database file(path("orders"));
        file.run("CREATE TEMP TABLE kept AS SELECT seq, checksum FROM outbox_messages;" + sql +
                 ";UPDATE outbox_messages SET checksum ="
                 " (SELECT checksum FROM kept WHERE kept.seq = outbox_messages.seq)");
    }
    [[nodiscard]] std::string text(const std::string& sql) {
        return database(path("orders")).text(sql);
    }
    void send_one() {
        node orders(options("orders"));
        orders.send("billing", "Charge", R"({"amount":100})");
    }
    [[nodiscard]] bool comes_to(const std::string& status) {
        return test::eventually(
            [&] { return text("SELECT status FROM outbox_messages") == status; });
    }
};

TEST_F(node_checksum, that_does_not_fit_buries_a_message_and_sends_nothing) {
    send_one();
    change_on_disk("UPDATE outbox_messages SET payload = '{\"amount\":900}'");
    int charged = 0;
    node billing(options("billing"));
    billing.handle("Charge", [&](context&, const message&) { ++charged; });
    billing.start();
    node orders(options("orders"));
    orders.start();
    EXPECT_TRUE(comes_to("Dead"));
    EXPECT_NE(text("SELECT last_error FROM outbox_messages").find("store_corrupt"),
              std::string::npos);
    orders.stop();
    billing.stop();
    EXPECT_EQ(charged, 0);
}

TEST_F(node_checksum, is_not_asked_of_a_row_that_somebody_changed_on_purpose) {
    send_one();
    database(path("orders")).run("UPDATE outbox_messages SET payload = '{\"amount\":900}'");
    node billing(options("billing"));
    billing.handle("Charge", [](context&, const message&) {});
    billing.start();
    node orders(options("orders"));
    orders.start();
    EXPECT_TRUE(comes_to("Sent"));
}

// The inbox knows that it was handled, and not any more what was answered.
TEST_F(node_checksum, of_a_response_that_does_not_fit_keeps_it_back_and_runs_nothing_again) {
    send_one();
    int charged = 0;
    node billing(options("billing"));
    billing.handle("Charge", [&](context&, const message&) -> std::string {
        ++charged;
        return R"({"charged":100})";
    });
    billing.start();
    {
        node orders(options("orders"));
        orders.start();
        EXPECT_TRUE(comes_to("Sent"));
    }
    database(path("billing"))
        .run("UPDATE inbox_messages SET response_payload = '{\"charged\":900}'");
    database(path("orders"))
        .run("UPDATE outbox_messages SET status = 'Pending', sent_at = NULL, next_retry_at = 0");
    node orders(options("orders"));
    orders.start();
    EXPECT_TRUE(test::eventually([&] {
        return text("SELECT coalesce(last_error, '') FROM outbox_messages")
            .contains("store_corrupt");
    })) << text("SELECT status || ' ' || coalesce(last_error, '') FROM outbox_messages");
    orders.stop();
    billing.stop();
    EXPECT_EQ(charged, 1);
    EXPECT_EQ(text("SELECT status FROM outbox_messages"), "Pending");
}

}  // namespace
}  // namespace posthorn::integration
