#include "inbox/configured/sql_handler.hpp"

#include <gmock/gmock.h>

#include "../inbox_fixture.hpp"
#include "store/user_transaction.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;

class sql_handler : public inbox_fixture {
protected:
    void handle_sql(std::string endpoint, std::string_view text) {
        auto script = parse_sql_script(text);
        ASSERT_TRUE(script.has_value()) << script.error().what();
        handle(std::move(endpoint), {.run = make_sql_handler(*std::move(script), loop.time())});
    }
    std::string text(std::string_view sql) {
        std::string found;
        const auto looked = database().read([&](store_reader& reader) {
            return reader.query(sql, {}, [&](const sql_row& row) { found = row.text(0); });
        });
        EXPECT_TRUE(looked) << looked.error().what();
        return found;
    }
};

TEST_F(sql_handler, writes_the_fields_of_the_payload_once) {
    handle_sql("Approved", "INSERT INTO effects VALUES (:orderId || ' by ' || :by)");
    const auto one = from_orders("Approved", R"({"orderId":"o1","by":"d\u00e9sk","more":[1]})");
    EXPECT_EQ(receive(one).what, outcome::delivered);
    const auto again = receive(one);
    EXPECT_EQ(again.what, outcome::delivered);
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(text("SELECT group_concat(what) FROM effects"), "o1 by désk");
}

TEST_F(sql_handler, gives_each_kind_of_value_as_the_database_knows_it) {
    change("CREATE TABLE kinds (t, i, r, yes, no, n, o, a)");
    handle_sql("Kinds", "INSERT INTO kinds VALUES (:t, :i, :r, :yes, :no, :n, :o, :a)");
    const auto one = from_orders("Kinds", R"({"t":"x","i":-7,"r":1.5e1,"yes":true,"no":false,)"
                                          R"("n":null,"o":{"k": 1},"a":[1, 2]})");
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_EQ(text("SELECT typeof(t) || typeof(i) || typeof(r) || typeof(yes) || typeof(n)"
                   " FROM kinds"),
              "textintegerrealintegernull");
    EXPECT_EQ(text("SELECT i || ' ' || r || ' ' || yes || ' ' || no || ' ' || o || ' ' || a"
                   " FROM kinds"),
              "-7 15.0 1 0 {\"k\": 1} [1, 2]");
}

TEST_F(sql_handler, knows_what_surrounds_the_payload) {
    change("CREATE TABLE seen (id, source, endpoint, correlation, payload, headers, at)");
    handle_sql("Seen",
               "INSERT INTO seen VALUES (:_message_id, :_source, :_endpoint, :_correlation_id, "
               ":_payload, :_headers, :_received_at)");
    auto one = from_orders("Seen", R"({"_source":"forged"})");
    one.correlation_id = "c1";
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_EQ(text("SELECT id FROM seen"), one.id.to_string());
    EXPECT_EQ(text("SELECT source || endpoint || correlation || payload || ifnull(headers, '-')"
                   " FROM seen"),
              R"(ordersSeenc1{"_source":"forged"}-)");
    EXPECT_EQ(number("SELECT at FROM seen"), loop.time().wall().time_since_epoch().count());
}

TEST_F(sql_handler, takes_what_lies_deeper_through_the_database) {
    handle_sql("Deep", "INSERT INTO effects VALUES (json_extract(:_payload, '$.a.b'))");
    EXPECT_EQ(receive(from_orders("Deep", R"({"a":{"b":"c"}})")).what, outcome::delivered);
    EXPECT_EQ(text("SELECT what FROM effects"), "c");
}

TEST_F(sql_handler, refuses_for_good_what_lacks_a_parameter) {
    handle_sql("Approved", "INSERT INTO effects VALUES ('before'); SELECT :orderId");
    for (const std::string payload : {"{}", "[1]", "7", R"({"orderid":1})"}) {
        const auto answer = receive(from_orders("Approved", payload));
        EXPECT_EQ(answer.what, outcome::permanent) << payload;
        EXPECT_THAT(answer.error, HasSubstr("no field 'orderId'")) << payload;
    }
    auto text_one = from_orders("Approved", "orderId");
    text_one.content_type = "text/plain";
    EXPECT_THAT(receive(text_one).error, HasSubstr("its payload is text/plain"));
    const auto huge = receive(from_orders("Approved", R"({"orderId":9223372036854775808})"));
    EXPECT_EQ(huge.what, outcome::permanent);
    EXPECT_THAT(huge.error, HasSubstr("too large"));
    EXPECT_EQ(effects(), 0);
}

TEST_F(sql_handler, rolls_back_and_is_tried_again_when_a_statement_fails) {
    handle_sql("Twice", "INSERT INTO effects VALUES ('x'); INSERT INTO effects VALUES ('x')");
    const auto one = from_orders("Twice", "{}");
    const auto answer = receive(one);
    EXPECT_EQ(answer.what, outcome::transient);
    EXPECT_THAT(answer.error, HasSubstr("UNIQUE"));
    EXPECT_EQ(effects(), 0);
}

TEST_F(sql_handler, says_what_failed_without_the_values_that_the_database_quotes) {
    handle_sql("Path", "SELECT json_extract('{}', :path)");
    handle_sql("Deep", "SELECT json_extract('{}', json_extract(:_payload, '$.a.b'))");
    handle_sql("Once", "INSERT INTO effects VALUES (:a); INSERT INTO effects VALUES (:a)");
    for (const std::string path : {"canary one", "$[canary", "it's canary"}) {
        const auto error =
            receive(from_orders("Path", fmt::format(R"({{"path":"{}"}})", path))).error;
        EXPECT_THAT(error, HasSubstr("JSON path")) << path;
        EXPECT_THAT(error, HasSubstr("…")) << path;
        EXPECT_THAT(error, testing::Not(HasSubstr("canary"))) << path;
    }
    const auto deep = receive(from_orders("Deep", R"({"a":{"b":"can\u0061ry"}})")).error;
    EXPECT_THAT(deep, HasSubstr("JSON path"));
    EXPECT_THAT(deep, testing::Not(HasSubstr("canary")));
    EXPECT_THAT(receive(from_orders("Once", R"({"a":"effects"})")).error,
                HasSubstr("UNIQUE constraint failed: "));
}

TEST_F(sql_handler, cannot_touch_the_transaction_it_is_in) {
    handle_sql("Commit", "COMMIT");
    EXPECT_EQ(receive(from_orders("Commit", "{}")).what, outcome::transient);
}

TEST_F(sql_handler, answers_with_the_first_row_of_its_last_statement) {
    handle_sql("Ask",
               "SELECT 'not this'; SELECT :a AS a, 2.5 AS \"b \"\"c\", NULL AS d, 'x' AS e "
               "UNION ALL SELECT 1, 2, 3, 4");
    EXPECT_EQ(receive(from_orders("Ask", R"({"a":1})")).payload,
              R"({"a":1,"b \"c":2.5,"d":null,"e":"x"})");
}

TEST_F(sql_handler, answers_nothing_when_its_last_statement_gives_no_row) {
    handle_sql("Silent", "SELECT 'row'; DELETE FROM effects");
    EXPECT_EQ(receive(from_orders("Silent", "{}")).payload, "");
}

TEST_F(sql_handler, a_hook_knows_why_a_message_was_given_up_and_takes_what_it_lacks_for_null) {
    auto script = parse_sql_script(
        "INSERT INTO effects VALUES (:_destination || ' ' || :_endpoint || ' ' || :_error || ' ' ||"
        " :_attempts || ' ' || :_may_have_taken_effect || ' ' || coalesce(:order, 'no order') ||"
        " ' ' || coalesce(:gift, 'none'))");
    ASSERT_TRUE(script.has_value());
    const auto hook = make_sql_hook(*std::move(script), loop.time());
    const auto tell = [&](const std::string& payload, const std::string& content_type) {
        dead_letter what{.body = from_orders("Charge", payload),
                         .error = "no such sku",
                         .attempts = 6,
                         .may_have_taken_effect = true};
        what.body.content_type = content_type;
        const auto done = loop.run(commit(database(), [&](store_transaction& tx) -> result<> {
            user_transaction in(tx, maker);
            hook(in, what);
            return in.intact();
        }));
        EXPECT_TRUE(done) << done.error().what();
        return text("SELECT what FROM effects ORDER BY rowid DESC LIMIT 1");
    };
    EXPECT_EQ(tell(R"({"order":"o1","gift":true})", "application/json"),
              "billing Charge no such sku 6 1 o1 1");
    EXPECT_EQ(tell(R"({"order":"o1"})", "application/json"),
              "billing Charge no such sku 6 1 o1 none");
    EXPECT_EQ(tell(R"({"order":"o1")", "application/json"),
              "billing Charge no such sku 6 1 no order none");
    change("DELETE FROM effects");
    EXPECT_EQ(tell("o1", "text/plain"), "billing Charge no such sku 6 1 no order none");
}

TEST_F(sql_handler, is_checked_by_the_database_before_it_is_needed) {
    const auto check = [this](std::string_view text) {
        return check_sql_script(query_of(database()), parse_sql_script(text).value());
    };
    EXPECT_EQ(check("INSERT INTO effects VALUES (:a); SELECT :b").value().text, "");
    EXPECT_EQ(effects(), 0);
    EXPECT_THAT(check("INSERT INTO later VALUES (:a)").value().text, HasSubstr("later"));
    EXPECT_THAT(check("UPDATE effects SET later = :a").value().text, HasSubstr("later"));
    const auto wrong = check("INSRT INTO effects VALUES (:a)");
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().code(), error_code::invalid_configuration);
    EXPECT_THAT(wrong.error().what(), HasSubstr("INSRT"));
    for (const auto* const forbidden : {"COMMIT", "SELECT 1; rollback", "Begin Immediate",
                                        "SAVEPOINT a", "PRAGMA user_version"}) {
        const auto refused = check(forbidden);
        ASSERT_FALSE(refused.has_value()) << forbidden;
        EXPECT_THAT(refused.error().what(), HasSubstr("is not for handlers"));
    }
}

}  // namespace
}  // namespace posthorn
