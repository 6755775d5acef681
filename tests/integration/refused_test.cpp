// What a web service says when it does not take a message, and who may read it.
#include "sidecar_fixture.hpp"

namespace posthorn::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

// SHA-256 of "plain-key" and of "payload-key".
constexpr auto keys =
    "[admin]\nkeys = [{ name = \"v\", role = \"viewer\", hash = \"sha256:"
    "2b5cde0108a957d90d131d664db092b0b604ee9741ef89e937ebc526be94cc57\" },\n"
    "{ name = \"p\", role = \"viewer\", payloads = true, hash = \"sha256:"
    "9922f537ca762eb5664e08a6e8863d975a8f55c5bcb93ee91c9bbc9747750a61\" }]\n";

TEST(a_web_service_that_refuses, is_heard_by_those_who_may_read_payloads_alone) {
    const test::temporary_directory folder;
    test::raw_listener service;
    sidecar stock(folder, "stock",
                  free_ports + std::string(keys) + secret_with("orders") +
                      "[handlers]\nCharge = \"http://127.0.0.1:" + std::to_string(service.port()) +
                      "/charge\"\n");
    sidecar orders(folder, "orders",
                   free_ports + secret_with("stock") +
                       "[routes]\nstock = \"http://127.0.0.1:" + stock.port() + "\"\n");
    orders.send("stock", "Charge", R"({"sku":"tea"})");
    const auto call = service.accept();
    static_cast<void>(call->receive());
    call->send(
        "HTTP/1.1 422 Unprocessable Entity\r\nContent-Length: 23\r\n\r\n{\"error\":\"no such "
        "sku\"}");
    ASSERT_TRUE(orders.comes_to("SELECT count(*) FROM outbox_messages WHERE status = 'Dead'", 1));

    const auto look = [&](const std::string& key) {
        return test::ask(test::port_in(stock.line(1)),
                         "GET /_rf/inbox/refused HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: "
                         "Bearer " +
                             key + "\r\nConnection: close\r\n\r\n");
    };
    EXPECT_EQ(look("plain-key").status, 403);
    const auto told = look("payload-key");
    EXPECT_EQ(told.status, 200);
    EXPECT_THAT(told.body, HasSubstr(R"("status":422,"answer":"{\"error\":\"no such sku\"}")"));
    EXPECT_THAT(told.body, HasSubstr(R"("source":"orders","endpoint":"Charge")"));

    EXPECT_THAT(orders.database().text("SELECT last_error FROM outbox_messages"),
                Not(HasSubstr("no such sku")));
    orders.stop();
    stock.stop();
    for (auto* const one : {&orders, &stock})
        EXPECT_THAT(one->child().err(), Not(HasSubstr("no such sku"))) << "no log has it";
}

}  // namespace
}  // namespace posthorn::integration
