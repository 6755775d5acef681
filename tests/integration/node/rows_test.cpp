// Rows of a query, as the types that were asked for.
#include <future>
#include <limits>

#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"

namespace posthorn::integration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class grade : std::uint8_t { plain = 1, fine = 2 };

class node_rows : public node_test {
protected:
    void SetUp() override {
        orders.transact([](transaction& tx) {
            tx.execute("CREATE TABLE items (id INTEGER, name TEXT, price REAL, note, grade INT)");
            tx.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?)", 1, "tea", 2.5, nullptr,
                       grade::fine);
            tx.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?)", 2, "jam", 4, "sweet",
                       grade::plain);
        });
    }
    /// What is said about a query that does not fit; the transaction goes on.
    template <class Ask>
    std::string refusal(Ask ask) {
        return orders.transact([&](transaction& tx) -> std::string {
            try {
                ask(tx);
            } catch (const error& why) {
                EXPECT_EQ(why.code(), error_code::statement_failed);
                EXPECT_EQ(tx.query_value<int>("SELECT count(*) FROM items"), 2);
                return why.what();
            }
            return "read";
        });
    }

    node orders{options("orders")};
};

TEST_F(node_rows, are_tuples_that_take_apart) {
    orders.transact([](transaction& tx) {
        std::string seen;
        for (const auto& [id, name, price] : tx.query<int, std::string, double>(
                 "SELECT id, name, price FROM items WHERE id >= ? ORDER BY id", 1))
            seen += name + " " + std::to_string(id) + " " + std::to_string(price) + "; ";
        EXPECT_EQ(seen, "tea 1 2.500000; jam 2 4.000000; ");
    });
}

TEST_F(node_rows, hold_optionals_for_null_and_enumerations_and_bytes) {
    orders.transact([](transaction& tx) {
        const auto rows = tx.query<std::optional<std::string>, grade>(
            "SELECT note, grade FROM items ORDER BY id");
        EXPECT_THAT(rows, ElementsAre(std::tuple(std::nullopt, grade::fine),
                                      std::tuple("sweet", grade::plain)));
        const auto bytes = tx.query_value<std::vector<std::byte>>("SELECT x'00ff'");
        EXPECT_THAT(bytes.value(), ElementsAre(std::byte{0}, std::byte{255}));
        EXPECT_EQ(tx.query_value<bool>("SELECT id = 1 FROM items WHERE name = ?", "tea"), true);
    });
}

TEST_F(node_rows, of_which_there_is_one_or_none) {
    orders.transact([](transaction& tx) {
        const auto tea = tx.query_one<int, std::string>("SELECT id, name FROM items WHERE id = 1");
        EXPECT_EQ(tea, std::tuple(1, "tea"));
        EXPECT_EQ(tx.query_one<int>("SELECT id FROM items WHERE id = 7"), std::nullopt);
        EXPECT_EQ(tx.query_value<int>("SELECT id FROM items WHERE id = 7"), std::nullopt);
        EXPECT_EQ(tx.query_value<std::string>("SELECT note FROM items WHERE id = 1"), std::nullopt);
    });
    EXPECT_THAT(
        refusal([](auto& tx) { std::ignore = tx.template query_one<int>("SELECT id FROM items"); }),
        HasSubstr("more than one row"));
}

TEST_F(node_rows, that_do_not_fit_are_refused_with_the_column_and_what_it_holds) {
    EXPECT_THAT(refusal([](transaction& tx) {
                    std::ignore = tx.query<int, int>("SELECT id, name FROM items");
                }),
                HasSubstr("column 2 of the query, name, holds text, and an integer was asked for"));
    EXPECT_THAT(refusal([](transaction& tx) {
                    std::ignore = tx.query<std::string>("SELECT note FROM items WHERE id = 1");
                }),
                HasSubstr("note, holds NULL, and text was asked for; ask for a std::optional"));
    EXPECT_THAT(
        refusal([](transaction& tx) { std::ignore = tx.query<std::int8_t>("SELECT 300 AS many"); }),
        HasSubstr("many, holds an integer, and an integer of a narrower type"));
    EXPECT_THAT(
        refusal([](transaction& tx) { std::ignore = tx.query<int>("SELECT id, name FROM items"); }),
        HasSubstr("the query gives 2 columns, and 1 were asked for"));
}

TEST_F(node_rows, are_visited_one_by_one_where_they_are_too_many_to_keep) {
    const auto sum = orders.transact([](transaction& tx) {
        std::int64_t sum = 0;
        tx.for_each_row([&](const sql_row& row) { sum += row.integer(0); },
                        "SELECT id FROM items WHERE id < ?", 10);
        const std::vector<sql_param> known_at_run_time{std::int64_t{2}};
        tx.for_each_row([&](const sql_row& row) { sum += 10 * row.integer(0); },
                        "SELECT id FROM items WHERE id = ?",
                        std::span(std::as_const(known_at_run_time)));
        return sum;
    });
    EXPECT_EQ(sum, 23);
}

TEST_F(node_rows, are_read_by_handlers_too) {
    std::promise<std::string> named;
    orders.handle("Find", [&](context& c, const message& m) {
        for (const auto& [name] :
             c.query<std::string>("SELECT name FROM items WHERE id = ?", std::stoi(m.payload)))
            named.set_value(name);
    });
    orders.start();
    orders.send("orders", "Find", "2");
    EXPECT_EQ(named.get_future().get(), "jam");
}

}  // namespace
}  // namespace posthorn::integration
