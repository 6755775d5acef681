// Rows of the outbox that their disk has changed, in the hands of people.
#include "store/dead_letters.hpp"
#include "unit/store/sqlite/a_service.hpp"

namespace posthorn::sqlite {
namespace {

class a_dead_letter : public a_service {
protected:
    /// One that was given up, past its horizon.
    void give_up() {
        message body;
        body.id = id_;
        body.source = "orders";
        body.destination = "billing";
        body.endpoint = "Charge";
        body.payload = R"({"amount":100})";
        body.created_at = time_.wall();
        body.expires_at = time_.wall() + std::chrono::hours(24);
        unit([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.outbox().insert(body));
            return {};
        });
        commit("UPDATE outbox_messages SET status = 'Dead'");
    }
    /// What no UPDATE can do: the row changes, and what is kept beside it does not.
    void change_on_disk() {
        const auto kept = test::sqlite_file(database_).text("SELECT checksum FROM outbox_messages");
        commit("UPDATE outbox_messages SET payload = '{\"amount\":900}'");
        commit("UPDATE outbox_messages SET checksum = " + kept);
    }
    void unit(const std::function<result<>(store_transaction&)>& work) {
        result<> answer = fail(error_code::closed, "no answer");
        store_->submit(
            {.work = work, .done = [&](result<> outcome) { answer = std::move(outcome); }});
        ASSERT_TRUE(answer) << answer.error().what();
    }
    void requeue(const dead_change& how) {
        unit([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.dead_letters().change(id_, how, time_.wall()));
            return {};
        });
    }
    void edit(const message_edit& how) {
        unit([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.dead_letters().edit(id_, how, {}, time_.wall()));
            return {};
        });
    }
    /// Those to be sent, and those to be buried.
    [[nodiscard]] std::pair<std::size_t, std::size_t> due() {
        std::pair<std::size_t, std::size_t> count;
        EXPECT_TRUE(store_->read([&](store_reader& from) -> result<> {
            const auto page =
                from.outbox().due({.destination = "billing", .now = time_.wall(), .limit = 10});
            POSTHORN_TRY(page);
            count = {page->rows.size(), page->bad.size()};
            return {};
        }));
        return count;
    }

    const uuid id_ = *uuid::parse("019b2ec1-a1f6-7002-9d3b-068263e1d03c");
    const std::pair<std::size_t, std::size_t> sent_{1, 0}, buried_{0, 1};
};

TEST_F(a_dead_letter, that_the_disk_has_changed_is_buried_again_under_a_new_id_too) {
    give_up();
    change_on_disk();
    requeue({.new_id = true});
    EXPECT_EQ(due(), buried_);
}

TEST_F(a_dead_letter, that_the_disk_has_changed_is_buried_again_after_an_edit_beside_the_payload) {
    give_up();
    change_on_disk();
    edit({.max_retries = 9});
    requeue({});
    EXPECT_EQ(due(), buried_);
}

TEST_F(a_dead_letter, that_the_disk_has_changed_is_sent_with_a_payload_that_somebody_gives) {
    give_up();
    change_on_disk();
    edit({.payload = R"({"amount":100})"});
    requeue({});
    EXPECT_EQ(due(), sent_);
}

TEST_F(a_dead_letter, keeps_a_checksum_through_edits_and_new_ids) {
    give_up();
    edit({.payload = R"({"amount":200})"});
    requeue({.new_id = true});
    EXPECT_EQ(due(), sent_);
    change_on_disk();
    EXPECT_EQ(due(), buried_);
}

// An id of who caused it may look right and be another.
TEST_F(a_dead_letter, covers_all_that_its_receiver_gets_to_see) {
    for (const std::string change :
         {"destination = 'other'", "endpoint = 'Other'", "headers = '{\"a\":\"b\"}'",
          "correlation_id = 'c'", "tenant = 't'", "parent_id = message_id",
          "causation_id = message_id", "created_at = created_at + 1", "expires_at = expires_at + 1",
          "content_type = 'text/plain'", "message_type = 'Command'"}) {
        commit("DELETE FROM outbox_messages");
        give_up();
        const auto kept = test::sqlite_file(database_).text("SELECT checksum FROM outbox_messages");
        requeue({});
        commit("UPDATE outbox_messages SET " + change);
        commit("UPDATE outbox_messages SET checksum = " + kept);
        std::size_t bad = 0;
        EXPECT_TRUE(store_->read([&](store_reader& from) -> result<> {
            for (const auto* const to : {"billing", "other"}) {
                const auto page =
                    from.outbox().due({.destination = to, .now = time_.wall(), .limit = 10});
                POSTHORN_TRY(page);
                bad += page->bad.size();
            }
            return {};
        }));
        EXPECT_EQ(bad, 1U) << change;
    }
}

}  // namespace
}  // namespace posthorn::sqlite
