// Units that share a transaction on PostgreSQL, and what is saved for them on the way to the
// server.
#include <array>
#include <latch>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/node.hpp"
#include "support/postgres/postgres_server.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class postgres_groups : public on_postgres {
protected:
    void SetUp() override {
        for (const auto* const sql :
             {"CREATE TABLE taken (name text PRIMARY KEY)", "CREATE TABLE wide (a integer)",
              "CREATE TABLE loose (name text)"})
            ASSERT_EQ(other_.run(sql), std::nullopt);
    }

    /// Whether each was committed. They come at once, and so share a commit.
    std::vector<bool> commit(std::vector<unit> units) {
        std::vector<bool> outcomes(units.size());
        std::latch answered(static_cast<std::ptrdiff_t>(units.size()));
        for (std::size_t i = 0; i < units.size(); ++i)
            units[i].done = [&outcomes, &answered, i](result<> outcome) {
                outcomes[i] = outcome.has_value();
                answered.count_down();
            };
        node_.get().submit(std::move(units));
        answered.wait();
        return outcomes;
    }
    /// One unit for each name, with a statement that gives no rows.
    std::vector<bool> take(const std::vector<std::string>& names) {
        std::vector<unit> units;
        for (const auto& name : names)
            units.push_back({.work = [name](store_transaction& tx) {
                std::string gone_by_then = name;
                auto done = tx.query("INSERT INTO taken VALUES (?)",
                                     std::vector<sql_param>{gone_by_then}, {});
                gone_by_then.assign(gone_by_then.size(), '#');
                return done;
            }});
        return commit(std::move(units));
    }
    /// After this many its text is prepared, and whether it gives rows is known.
    void make_known() { ASSERT_THAT(take({"a", "b", "c", "d"}), Each(true)); }

    std::vector<std::string> texts(const std::string& sql) {
        std::vector<std::string> found;
        for (const auto& row : other_.rows(sql)) found.push_back(row.at(0).value_or("NULL"));
        return found;
    }
    std::vector<std::string> names() { return texts("SELECT name FROM taken ORDER BY name"); }
    /// What the writer's session has prepared of what is not ours.
    std::vector<std::string> prepared(const std::string& like) {
        std::vector<std::string> found;
        EXPECT_TRUE(node_.run([&](store_transaction& tx) {
            return tx.query("SELECT statement FROM pg_prepared_statements WHERE statement LIKE ?",
                            std::vector<sql_param>{like},
                            [&](const sql_row& row) { found.emplace_back(row.text(0)); });
        }));
        return found;
    }

    inbox_record record(const uuid& id) {
        return {.key = {"orders", id},
                .endpoint = "Take",
                .processed_at = noon,
                .expires_at = noon + std::chrono::hours{48}};
    }
    /// Says which row it will insert, and says in `is_new` whether it was; or does not insert it.
    unit receive(const uuid& id, int& is_new, bool inserts = true) {
        return {.work = [this, id, &is_new, inserts](store_transaction& tx) -> result<> {
                    if (!inserts) return {};
                    auto inserted = tx.inbox().insert(record(id));
                    if (!inserted) return std::unexpected(std::move(inserted).error());
                    is_new = *inserted ? 1 : 0;
                    return {};
                },
                .inserts_first = [this, id] { return std::optional(record(id)); }};
    }

    test::postgres_client other_{place_.url()};
    a_store node_{place_};
};

TEST_F(postgres_groups, prepare_what_comes_again_and_nothing_that_comes_once) {
    make_known();
    EXPECT_THAT(prepared("INSERT INTO taken%"), ElementsAre("INSERT INTO taken VALUES ($1)"));
    std::vector<unit> units;
    for (int i = 0; i < 600; ++i)
        units.push_back({.work = [i](store_transaction& tx) {
            return tx.query(fmt::format("INSERT INTO wide VALUES ({})", i), {}, {});
        }});
    EXPECT_THAT(commit(std::move(units)), Each(true));
    EXPECT_THAT(prepared("INSERT INTO wide%"), IsEmpty());
    EXPECT_THAT(texts("SELECT count(*) FROM wide"), ElementsAre("600"));
}

TEST_F(postgres_groups, keep_the_values_of_what_they_do_not_wait_for) {
    make_known();
    EXPECT_THAT(take({"e", "f"}), Each(true));
    EXPECT_THAT(names(), ElementsAre("a", "b", "c", "d", "e", "f"));
    std::vector<unit> units;
    for (const char last : {'v', 'w', 'x', 'y', 'z'})
        units.push_back({.work = [last](store_transaction& tx) {
            std::string bytes(40, last);  // Nobody copies bytes.
            auto done = tx.query("INSERT INTO loose VALUES (substr(encode(?, 'escape'), 40))",
                                 std::vector<sql_param>{blob{std::as_bytes(std::span(bytes))}}, {});
            bytes.assign(bytes.size(), '#');
            return done;
        }});
    EXPECT_THAT(commit(std::move(units)), Each(true));
    EXPECT_THAT(texts("SELECT string_agg(name, '' ORDER BY name) FROM loose"),
                ElementsAre("vwxyz"));
}

TEST_F(postgres_groups, give_a_failure_that_shows_late_to_the_unit_that_has_it) {
    make_known();
    EXPECT_THAT(take({"e", "a", "f", "e"}), ElementsAre(true, false, true, false));
    EXPECT_THAT(names(), ElementsAre("a", "b", "c", "d", "e", "f"));
}

TEST_F(postgres_groups, go_on_when_a_table_changes_under_a_prepared_statement) {
    const auto look = [&] {
        std::size_t columns = 0;
        std::vector<unit> units;
        for (int i = 0; i < 3; ++i)
            units.push_back({.work = [&columns](store_transaction& tx) {
                return tx.query("SELECT * FROM wide", {},
                                [&](const sql_row& row) { columns = row.size(); });
            }});
        EXPECT_THAT(commit(std::move(units)), Each(true));
        return columns;
    };
    ASSERT_EQ(other_.run("INSERT INTO wide VALUES (1)"), std::nullopt);
    EXPECT_EQ(look(), 1U);
    EXPECT_THAT(prepared("SELECT * FROM wide%"), ::testing::SizeIs(1));
    ASSERT_EQ(other_.run("ALTER TABLE wide ADD COLUMN b integer"), std::nullopt);
    EXPECT_EQ(look(), 2U);
}

TEST_F(postgres_groups, insert_the_rows_of_their_messages_at_once_and_each_message_once) {
    const auto known = sample().id;
    int was_new = -1;
    std::vector<unit> first;
    first.push_back(receive(known, was_new));
    ASSERT_THAT(commit(std::move(first)), ElementsAre(true));
    ASSERT_EQ(was_new, 1);

    const auto fresh = sample().id;
    const auto last = sample().id;
    std::array<int, 4> is_new{-1, -1, -1, -1};
    std::vector<unit> units;
    units.push_back(receive(last, is_new[0]));
    units.push_back(receive(known, is_new[1]));
    units.push_back(receive(fresh, is_new[2]));
    units.push_back(receive(fresh, is_new[3]));
    EXPECT_THAT(commit(std::move(units)), Each(true));
    EXPECT_THAT(is_new, ElementsAre(1, 0, 1, 0));
    EXPECT_THAT(texts("SELECT count(*) FROM inbox_messages"), ElementsAre("3"));
    EXPECT_THAT(texts("SELECT octet_length(body_hash) FROM inbox_messages"), Each("32"));
    // The log of changes says what was received, and the row that was there is not among it.
    EXPECT_THAT(texts("SELECT count(*) FROM changes WHERE kind = 'inbox.received'"),
                ElementsAre("2"));
}

TEST_F(postgres_groups, keep_no_row_that_a_unit_did_not_insert_after_all) {
    const auto meant = sample().id;
    const auto other = sample().id;
    int is_new = -1;
    std::vector<unit> units;
    units.push_back(receive(meant, is_new, false));
    units.push_back(receive(other, is_new));
    EXPECT_THAT(commit(std::move(units)), Each(true));
    EXPECT_EQ(is_new, 1);
    EXPECT_THAT(texts("SELECT message_id FROM inbox_messages"), ElementsAre(other.to_string()));
}

}  // namespace
}  // namespace posthorn::conformance
