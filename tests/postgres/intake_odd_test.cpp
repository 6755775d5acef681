// Messages whose row a trigger of the user's does not let through: they alone wait.
#include "base/async/virtual_time.hpp"
#include "postgres/intake.hpp"
#include "store/old_rows.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class postgres_intake_odd : public postgres_intake {
protected:
    /// Before a row of the table to `evil` comes, this is done.
    void before_evil(const std::string& table, const std::string& plpgsql) {
        must(eye_, fmt::format("CREATE SEQUENCE tries; CREATE FUNCTION boom() RETURNS trigger "
                               "LANGUAGE plpgsql AS $$ BEGIN IF NEW.destination = 'evil' THEN "
                               "PERFORM nextval('tries'); {} END IF; RETURN NEW; END $$; "
                               "CREATE TRIGGER boom BEFORE INSERT ON {} FOR EACH ROW "
                               "EXECUTE FUNCTION boom()",
                               plpgsql, table));
    }
    void let_evil_pass(const std::string& table = "outbox_due") {
        must(eye_, "DROP TRIGGER boom ON " + table);
    }
    void store_evil(int rows = 1) {
        must(producer_,
             fmt::format("INSERT INTO outbox_messages (destination, endpoint, payload) SELECT "
                         "'evil', 'Charge', '{{}}' FROM generate_series(1, {})",
                         rows));
    }
    /// As if a while had passed since they were tried.
    void wait_a_while() { must(eye_, "UPDATE outbox_odd SET tried_at = tried_at - 2000"); }
    taken_in look(std::size_t rows_max = 100) {
        taken_in seen;
        EXPECT_TRUE(succeeded(node().run([&](store_transaction& tx) -> result<> {
            POSTHORN_LET(taken, node().claims_in(tx).take_in({.rows_max = rows_max}));
            seen = taken;
            return {};
        })));
        return seen;
    }
    std::int64_t odd() { return number("SELECT count(*) FROM outbox_odd"); }
    std::int64_t tries() { return number("SELECT last_value FROM tries"); }
};

TEST_F(postgres_intake_odd, hold_up_no_others_and_are_named_until_they_are_let_in) {
    before_evil("outbox_due", "RAISE 'boom';");
    must(producer_, insert(2));
    store_evil();
    must(producer_, insert(2));
    auto seen = look();
    EXPECT_FALSE(seen.is_more);
    EXPECT_EQ(seen.odd, "3: boom");
    EXPECT_THAT(due(), ElementsAre(1, 2, 4, 5));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_pending"), 5) << "it is pending still";
    EXPECT_TRUE(succeeded(node().get().check_integrity()));

    must(producer_, insert());
    EXPECT_EQ(look().odd, "3: boom") << "though it was not tried again so soon";
    EXPECT_EQ(look().odd, "3: boom");
    EXPECT_THAT(due(), ElementsAre(1, 2, 4, 5, 6));
    EXPECT_TRUE(has_arrivals());

    let_evil_pass();
    wait_a_while();
    EXPECT_THAT(look().odd, IsEmpty());
    EXPECT_THAT(due(), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(odd(), 0);
    EXPECT_FALSE(has_arrivals());
}

TEST_F(postgres_intake_odd, are_told_though_the_row_vanishes_without_an_error) {
    before_evil("outbox_due", "RETURN NULL;");
    store_evil();
    must(producer_, insert());
    EXPECT_THAT(look().odd, HasSubstr("vanished"));
    EXPECT_THAT(due(), ElementsAre(2));
    let_evil_pass();
    wait_a_while();
    EXPECT_THAT(look().odd, IsEmpty());
    EXPECT_THAT(due(), ElementsAre(1, 2));
}

TEST_F(postgres_intake_odd, may_be_closed_ones_too) {
    before_evil("outbox_closed", "RAISE 'boom';");
    must(producer_,
         "INSERT INTO outbox_messages (destination, endpoint, payload, status)"
         " VALUES ('evil', 'Charge', '{}', 'Dead'), ('billing', 'Charge', '{}', 'Dead')");
    EXPECT_EQ(look().odd, "1: boom");
    EXPECT_EQ(number("SELECT seq FROM outbox_closed"), 2);
    let_evil_pass("outbox_closed");
    wait_a_while();
    EXPECT_THAT(look().odd, IsEmpty());
    EXPECT_EQ(number("SELECT count(*) FROM outbox_closed"), 2);
}

TEST_F(postgres_intake_odd, are_tried_again_a_few_at_a_time) {
    before_evil("outbox_due", "RAISE 'boom';");
    store_evil(50);
    must(producer_, insert());
    for (int page = 0; page < 6; ++page) look(10);
    EXPECT_EQ(odd(), 50);
    EXPECT_THAT(due(), ElementsAre(51));
    EXPECT_LE(tries(), 60) << "each once, and once for each page that failed whole";
    const auto before = tries();
    wait_a_while();
    look();
    EXPECT_EQ(tries() - before, 20);
    look();
    EXPECT_EQ(tries() - before, 40) << "those that have waited longest";
    let_evil_pass();
    wait_a_while();
    int looks = 1;
    while (look().is_more) ++looks;
    EXPECT_EQ(looks, 3) << "one after the other, once they are let in";
    EXPECT_EQ(odd(), 0);
    EXPECT_EQ(due().size(), 51);
}

TEST_F(postgres_intake_odd, are_forgotten_with_their_message) {
    before_evil("outbox_due", "RAISE 'boom';");
    store_evil(2);
    look();
    EXPECT_EQ(odd(), 2);
    must(producer_, "DELETE FROM outbox_messages WHERE seq = 1");
    must(producer_, "UPDATE outbox_messages SET status = 'Sent' WHERE seq = 2");
    wait_a_while();
    EXPECT_THAT(look().odd, IsEmpty());
    EXPECT_EQ(odd(), 0);
    EXPECT_THAT(due(), IsEmpty());
}

TEST_F(postgres_intake_odd, are_not_those_that_the_server_or_a_lock_keeps_out) {
    before_evil("outbox_due", "RAISE 'busy' USING ERRCODE = 'lock_not_available';");
    store_evil();
    EXPECT_FALSE(succeeded(node().run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(node().claims_in(tx).take_in({.rows_max = 100}));
        return {};
    })));
    EXPECT_EQ(odd(), 0);
    let_evil_pass();
    EXPECT_FALSE(take_in());
    EXPECT_THAT(due(), ElementsAre(1));
}

TEST_F(postgres_intake_odd, are_not_taken_for_lost_and_a_locked_one_beside_them_is_not_forgotten) {
    before_evil("outbox_due", "RAISE 'boom';");
    store_evil();
    must(producer_, insert(2));
    must(other_, "BEGIN; SELECT 1 FROM outbox_messages WHERE seq = 2 FOR UPDATE");
    look();
    EXPECT_THAT(due(), ElementsAre(3));
    must(other_, "COMMIT");
    look();
    EXPECT_THAT(due(), ElementsAre(2, 3));
    virtual_time still;
    EXPECT_TRUE(succeeded(node().run([&](store_transaction& tx) -> result<> {
        POSTHORN_LET(mended, tx.old().mend_beside(slice(still, 100, 1h)));
        EXPECT_EQ(mended.rows, 0U);
        return {};
    })));
}

}  // namespace
}  // namespace posthorn::conformance
