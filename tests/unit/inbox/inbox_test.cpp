#include <gmock/gmock.h>

#include <posthorn/error.hpp>

#include "inbox_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::HasSubstr;

class transactional_inbox : public inbox_fixture {};

TEST_F(transactional_inbox, a_message_takes_effect_and_its_response_comes_back) {
    handle_by_writing("Charge", "done");
    const auto answer = receive(from_orders("Charge", "1"));
    EXPECT_EQ(answer, (delivery{.what = outcome::delivered, .payload = "done"}));
    EXPECT_EQ(effects(), 1);
    EXPECT_EQ(inbox_rows(), 1);
}

TEST_F(transactional_inbox, a_duplicate_gets_the_first_response_to_the_byte_and_has_no_effect) {
    const std::string response = "a"s + '\0' + "b\xff {}";
    int runs = 0;
    handle("Charge", {.run = transactional_handler([&](context&, const message&) {
                          return ++runs == 1 ? response : "another";
                      })});
    const auto one = from_orders("Charge", "1");
    EXPECT_EQ(receive(one), (delivery{.what = outcome::delivered, .payload = response}));
    const delivery repeated{.what = outcome::delivered, .duplicate = true, .payload = response};
    EXPECT_EQ(receive(one), repeated);
    reopen_store();
    EXPECT_EQ(receive(one), repeated);
    EXPECT_EQ(runs, 1);
}

TEST_F(transactional_inbox, an_empty_response_stays_empty) {
    handle_by_writing("Charge", "");
    const auto one = from_orders("Charge", "1");
    EXPECT_EQ(receive(one), (delivery{.what = outcome::delivered}));
    EXPECT_EQ(receive(one), (delivery{.what = outcome::delivered, .duplicate = true}));
}

TEST_F(transactional_inbox, the_same_id_from_another_service_is_another_message) {
    handle_by_writing("Charge");
    auto one = from_orders("Charge", "1");
    EXPECT_FALSE(receive(one).duplicate);
    one.source = "shop";
    one.payload = "2";
    EXPECT_EQ(receive(one), (delivery{.what = outcome::delivered}));
    EXPECT_EQ(effects(), 2);
}

TEST_F(transactional_inbox, the_same_id_with_another_body_is_a_conflict) {
    handle_by_writing("Charge");
    auto one = from_orders("Charge", "1");
    receive(one);
    one.payload = "2";
    const auto answer = receive(one);
    EXPECT_EQ(answer.what, outcome::permanent);
    EXPECT_EQ(answer.code, error_code::id_reused);
    EXPECT_EQ(effects(), 1);
}

TEST_F(transactional_inbox, one_of_a_batch_that_throws_is_rolled_back_alone) {
    handle("Charge", {.run = transactional_handler([](context& c, const message& m) {
                          c.execute("INSERT INTO effects VALUES (?)", m.payload);
                          if (m.payload == "bad") throw std::runtime_error("card refused");
                          return m.payload;
                      })});
    const std::vector<message> batch{from_orders("Charge", "1"), from_orders("Charge", "bad"),
                                     from_orders("Charge", "3")};
    const auto answers = receive(batch);
    EXPECT_EQ(answers.at(0), (delivery{.what = outcome::delivered, .payload = "1"}));
    EXPECT_EQ(answers.at(1), (delivery{.what = outcome::transient, .error = "card refused"}));
    EXPECT_EQ(answers.at(2), (delivery{.what = outcome::delivered, .payload = "3"}));
    EXPECT_EQ(effects(), 2);
    EXPECT_EQ(entry_of(batch[1]), std::nullopt);
    EXPECT_EQ(inbox_rows(), 2);
}

TEST_F(transactional_inbox, a_throw_takes_back_the_write_the_send_and_the_inbox_row) {
    bool fails = true;
    handle("Charge", {.run = transactional_handler([&](context& c, const message& m) {
                          c.execute("INSERT INTO effects VALUES (?)", m.payload);
                          c.send("ledger", "Book", "{}");
                          if (fails) throw std::runtime_error("later");
                          return std::string();
                      })});
    const auto one = from_orders("Charge", "1");
    EXPECT_EQ(receive(one).what, outcome::transient);
    EXPECT_EQ(effects() + inbox_rows() + outbox_rows(), 0);
    fails = false;
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_EQ(effects(), 1);
    EXPECT_EQ(inbox_rows(), 1);
    EXPECT_EQ(outbox_rows(), 1);
}

TEST_F(transactional_inbox, what_a_handler_sends_carries_its_cause) {
    uuid carried;
    uuid given;
    handle("Charge",
           {.run = transactional_handler([&](context& c, const message&) {
                EXPECT_EQ(c.received().endpoint, "Charge");
                carried = c.send("ledger", "Book", "{}");
                given = c.send(
                    "ledger", "Book", "{}",
                    {.correlation_id = "mine", .tenant = "t2", .max_retries = 2, .expires_in = 1h});
                return std::string();
            })});
    auto one = from_orders("Charge", "1");
    one.correlation_id = "order-7";
    one.tenant = "t1";
    ASSERT_EQ(receive(one).what, outcome::delivered);
    const auto stored = [&](const uuid& id) {
        std::optional<outbox_row> row;
        EXPECT_TRUE(database().read([&](store_reader& reader) -> result<> {
            row = *reader.outbox().find(id);
            return {};
        }));
        return row ? row->body : message{};
    };
    const auto first = stored(carried);
    EXPECT_EQ(first.source, "billing");
    EXPECT_EQ(first.causation_id, one.id);
    EXPECT_EQ(first.correlation_id, "order-7");
    EXPECT_EQ(first.tenant, "t1");
    EXPECT_EQ(first.created_at, loop.time().wall());
    EXPECT_EQ(first.expires_at, loop.time().wall() + 24h);
    EXPECT_EQ(first.max_retries, 5);
    const auto second = stored(given);
    EXPECT_EQ(second.causation_id, one.id);
    EXPECT_EQ(second.correlation_id, "mine");
    EXPECT_EQ(second.tenant, "t2");
    EXPECT_EQ(second.max_retries, 2);
    EXPECT_EQ(second.expires_at, loop.time().wall() + 1h);
}

TEST_F(transactional_inbox, a_handler_reads_what_it_wrote) {
    handle("Charge", {.run = transactional_handler([](context& c, const message&) {
                          c.execute("INSERT INTO effects VALUES (?), (?)", "x", std::string("y"));
                          std::string all;
                          for (const auto& [what] : c.query<std::string>(
                                   "SELECT what FROM effects WHERE what > ? ORDER BY what", "a"))
                              all += what;
                          EXPECT_EQ(c.query_value<std::int64_t>("SELECT count(*) FROM effects"), 2);
                          EXPECT_EQ(c.query_value<std::string>("SELECT what FROM effects WHERE 0"),
                                    std::nullopt);
                          EXPECT_EQ(c.query_value<std::string>("SELECT NULL"), std::nullopt);
                          EXPECT_EQ(c.execute("DELETE FROM effects WHERE what = ?", "y"), 1);
                          return all;
                      })});
    EXPECT_EQ(receive(from_orders("Charge", "1")).payload, "xy");
    EXPECT_EQ(effects(), 1);
}

TEST_F(transactional_inbox, permanent_buries_and_leaves_no_row) {
    handle("Charge", {.run = transactional_handler([](context&, const message&) -> std::string {
                          throw permanent("no such order");
                      })});
    EXPECT_EQ(receive(from_orders("Charge", "1")),
              (delivery{.what = outcome::permanent, .error = "no such order"}));
    EXPECT_EQ(inbox_rows(), 0);
}

TEST_F(transactional_inbox, a_statement_that_fails_is_an_error_the_handler_may_catch) {
    handle("Charge", {.run = transactional_handler([](context& c, const message&) {
                          c.execute("INSERT INTO effects VALUES ('x')");
                          EXPECT_THROW(c.execute("INSERT INTO effects VALUES ('x')"), error);
                          EXPECT_THROW(c.send("ledger", "Book", "{"), error);
                          return std::string("caught");
                      })});
    EXPECT_EQ(receive(from_orders("Charge", "1")).payload, "caught");
    EXPECT_EQ(effects(), 1);
    EXPECT_EQ(outbox_rows(), 0);
}

TEST_F(transactional_inbox, without_a_handler_a_message_is_undeliverable) {
    handle_by_writing("Charge");
    const std::vector<message> batch{from_orders("Refund", "1"), from_orders("Charge", "2")};
    const auto answers = receive(batch);
    EXPECT_EQ(answers.at(0).what, outcome::undeliverable);
    EXPECT_THAT(answers.at(0).error, HasSubstr("no_handler"));
    EXPECT_EQ(answers.at(1).what, outcome::delivered);
    EXPECT_EQ(inbox_rows(), 1);
}

TEST_F(transactional_inbox, a_message_without_a_source_or_an_id_is_refused) {
    handle_by_writing("Charge");
    auto nameless = from_orders("Charge", "1");
    nameless.source = "";
    EXPECT_EQ(receive(nameless).what, outcome::permanent);
    auto numberless = from_orders("Charge", "1");
    numberless.id = {};
    EXPECT_EQ(receive(numberless).what, outcome::permanent);
    EXPECT_EQ(inbox_rows(), 0);
}

TEST_F(transactional_inbox, a_message_twice_in_a_batch_takes_effect_once) {
    handle_by_writing("Charge", "done");
    const auto one = from_orders("Charge", "1");
    const auto answers = receive(std::vector{one, one});
    EXPECT_EQ(answers.at(0), (delivery{.what = outcome::delivered, .payload = "done"}));
    EXPECT_EQ(answers.at(1),
              (delivery{.what = outcome::delivered, .duplicate = true, .payload = "done"}));
    EXPECT_EQ(effects(), 1);
}

TEST_F(transactional_inbox, a_response_past_the_limit_is_refused_and_rolled_back) {
    options.intake.response_size_max = 3;
    handle_by_writing("Charge", "1234");
    const auto answer = receive(from_orders("Charge", "1"));
    EXPECT_EQ(answer.what, outcome::permanent);
    EXPECT_THAT(answer.error, HasSubstr("message_too_large"));
    EXPECT_EQ(effects() + inbox_rows(), 0);
}

TEST_F(transactional_inbox, a_handler_past_its_time_is_interrupted_even_if_it_hides_that) {
    const auto endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000000)"
        " SELECT count(*) FROM n";
    handle("Throw", {.run = transactional_handler([&](context& c, const message& m) {
                         c.execute("INSERT INTO effects VALUES (?)", m.payload);
                         loop.time().advance(5001ms);
                         return std::to_string(c.query_value<std::int64_t>(endless).value());
                     })});
    handle("Hide", {.run = transactional_handler([&](context& c, const message& m) {
                        c.execute("INSERT INTO effects VALUES (?)", m.payload);
                        loop.time().advance(5001ms);
                        try {
                            static_cast<void>(c.query_value<std::int64_t>(endless));
                        } catch (const error&) {
                        }
                        return std::string("as if nothing had happened");
                    })});
    for (const auto* endpoint : {"Throw", "Hide"}) {
        const auto answer = receive(from_orders(endpoint, "1"));
        EXPECT_EQ(answer.what, outcome::transient) << endpoint;
        EXPECT_EQ(effects() + inbox_rows(), 0) << endpoint;
    }
}

TEST_F(transactional_inbox, log_lines_are_those_of_the_document) {
    handle_by_writing("Charge");
    const auto one = from_orders("Charge", "1");
    lines.clear();
    receive(one);
    receive(one);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_THAT(lines[0], HasSubstr("[INF] Inbox:  Message " + one.id.to_string() +
                                    " processed from orders"));
    EXPECT_THAT(lines[1], HasSubstr("[WRN] Inbox:  Duplicate " + one.id.to_string() +
                                    " detected from orders"));
    EXPECT_EQ(box().durations_us().view().count(), 1U);  // The duplicate took no work.
}

TEST_F(transactional_inbox, counts_what_became_of_messages) {
    handle_by_writing("Charge");
    auto one = from_orders("Charge", "1");
    receive(one);
    receive(one);
    receive(one);
    receive(from_orders("Charge", "1"));  // Violates the table's UNIQUE.
    receive(from_orders("Refund", "1"));
    one.payload = "2";
    receive(one);
    EXPECT_EQ(
        box().counts(),
        (inbox_counts{.processed = 1, .duplicates = 2, .failed = 1, .conflicts = 1, .refused = 1}));
}

TEST_F(transactional_inbox, tells_each_message_that_was_not_taken_in_until_it_is) {
    bool fails = true;
    handle("Charge", {.run = transactional_handler([&](context&, const message&) -> std::string {
                          if (fails) throw std::runtime_error("card refused");
                          return "";
                      })});
    const auto one = from_orders("Charge", "1");
    const auto other = from_orders("Refund", "1");
    for (int i = 0; i < 3; ++i) receive(one);
    receive(other);
    const auto all = box().failed().list();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].id, other.id);
    EXPECT_EQ(all[0].code, error_code::no_handler);
    EXPECT_EQ(all[1].id, one.id);
    EXPECT_EQ(all[1].source, "orders");
    EXPECT_EQ(all[1].endpoint, "Charge");
    EXPECT_EQ(all[1].why, "card refused");
    EXPECT_EQ(all[1].times, 3U);
    EXPECT_EQ(all[1].code, std::nullopt);
    fails = false;
    receive(one);
    ASSERT_EQ(box().failed().list().size(), 1U);
    EXPECT_EQ(box().failed().list()[0].id, other.id);
}

TEST_F(transactional_inbox, counts_by_endpoint_and_those_that_no_handler_is_for_as_one) {
    handle_by_writing("Charge");
    handle_by_writing("Ship");
    const auto one = from_orders("Charge", "1");
    receive(one);
    receive(one);
    receive(from_orders("Charge", "1"));  // Violates the table's UNIQUE.
    receive(from_orders("Ship", "2"));
    for (int i = 0; i < 300; ++i) receive(from_orders("made-up-" + std::to_string(i), "1"));
    const auto seen = box().endpoints().view();
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen.at("Charge").processed, 1U);
    EXPECT_EQ(seen.at("Charge").duplicates, 1U);
    EXPECT_EQ(seen.at("Charge").failed, 1U);
    EXPECT_EQ(seen.at("Ship").processed, 1U);
    EXPECT_EQ(seen.at("Ship").took[0], 1U);  // No virtual time has passed.
    EXPECT_EQ(seen.at("other").failed, 300U);
}

}  // namespace
}  // namespace posthorn
