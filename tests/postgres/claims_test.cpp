// Several dispatchers on one schema: who sends what, and what becomes of it when one dies.
#include <future>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "postgres/node.hpp"
#include "store/claim_table.hpp"
#include "store/postgres/commit/session.hpp"
#include "store/postgres/driver/sql_text.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A node's store, and its dispatcher's seat.
class seated {
public:
    seated(const test::postgres_place& place, std::string owner)
        : store(place), name_(std::string(seat_prefix) + owner), owner_(std::move(owner)) {
        EXPECT_TRUE(succeeded(store.run([this](store_transaction& tx) -> result<> {
            auto taken = tx.leases().take(name_, owner_, std::nullopt);
            if (!taken) return std::unexpected(taken.error());
            epoch = (*taken)->epoch;
            return {};
        })));
        store.get().hand_to(&hot);
    }
    ~seated() { store.get().hand_to(nullptr); }
    seated(const seated&) = delete;
    seated& operator=(const seated&) = delete;

    std::vector<std::int64_t> claim(std::size_t limit = 100,
                                    std::span<const std::int64_t> held = {}) {
        std::vector<std::int64_t> seqs;
        EXPECT_TRUE(succeeded(store.run([&](store_transaction& tx) -> result<> {
            auto page = store.claims_in(tx).claim(
                {.destination = "billing", .now = noon + 1h, .limit = limit, .held = held}, epoch);
            if (!page) return std::unexpected(page.error());
            seqs.clear();
            for (const auto& row : page->rows) seqs.push_back(row.seq);
            return {};
        })));
        return seqs;
    }
    result<std::int64_t> settle(settlement outcome) {
        std::int64_t changed = 0;
        auto done = store.run([&](store_transaction& tx) -> result<> {
            const auto count = tx.outbox().settle({&outcome, 1}, epoch);
            if (!count) return std::unexpected(count.error());
            changed = *count;
            return {};
        });
        if (!done) return std::unexpected(done.error());
        return changed;
    }
    void leave() {
        EXPECT_TRUE(succeeded(store.run([this](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.leases().release(name_, owner_, epoch));
            return {};
        })));
    }

    /// What the hot path of the dispatcher gets.
    struct hot_path final : commit_taker {
        void committed(std::vector<outbox_row> enqueued) override {
            for (auto& row : enqueued) rows.push_back(std::move(row));
        }
        void released(std::vector<outbox_row> more) override { committed(std::move(more)); }
        std::int64_t claims_as() override { return epoch; }

        std::vector<outbox_row> rows;
        std::int64_t epoch = 0;
    };

    a_store store;
    std::int64_t epoch = 0;
    hot_path hot;

private:
    std::string name_;
    std::string owner_;
};

class postgres_claims : public on_postgres {
protected:
    seated first_{place_, "first"};
    seated second_{place_, "second"};
};

TEST_F(postgres_claims, what_one_has_claimed_another_does_not_find) {
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(succeeded(first_.store.put(sample())));
    EXPECT_THAT(first_.claim(3), ElementsAre(1, 2, 3));
    EXPECT_THAT(second_.claim(), ElementsAre(4, 5));
    EXPECT_THAT(second_.claim(100, std::vector<std::int64_t>{4, 5}), IsEmpty());
    EXPECT_THAT(second_.claim(), ElementsAre(4, 5)) << "its own, which it does not hold in memory";
}

TEST_F(postgres_claims, are_what_the_webhook_document_calls_processing) {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(succeeded(first_.store.put(sample())));
    ASSERT_THAT(second_.claim(1), ElementsAre(1));
    test::postgres_client other(place_.url());
    const auto shown = [&] {
        return other.rows(
            "SELECT \"Status\", \"LockedBy\" FROM \"OutboxMessages\" ORDER BY \"Id\"");
    };
    using row = test::postgres_client::row;
    EXPECT_THAT(shown(), ElementsAre(row{"1", "second"}, row{"0", std::nullopt}));
    second_.leave();
    EXPECT_THAT(shown(), ElementsAre(row{"0", std::nullopt}, row{"0", std::nullopt}));
}

TEST_F(postgres_claims, rows_that_another_is_about_to_claim_are_passed_over_without_waiting) {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(succeeded(first_.store.put(sample())));
    test::postgres_client other(place_.url());
    ASSERT_EQ(other.run("BEGIN; SELECT 1 FROM outbox_due WHERE seq = 1 FOR UPDATE"), std::nullopt);
    EXPECT_THAT(first_.claim(), ElementsAre(2, 3));
}

TEST_F(postgres_claims, of_one_that_left_or_died_are_void_and_no_attempt_is_charged) {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(succeeded(first_.store.put(sample())));
    ASSERT_THAT(first_.claim(), ElementsAre(1, 2));
    ASSERT_THAT(second_.claim(), IsEmpty());
    first_.leave();
    EXPECT_THAT(second_.claim(), ElementsAre(1, 2));
    EXPECT_EQ(number("SELECT sum(retry_count) FROM outbox_messages"), 0);
    EXPECT_TRUE(refused_with(first_.settle({.seq = 1, .at = noon}), error_code::lease_lost));
}

TEST_F(postgres_claims, nobody_waits_for_the_seat_of_one_that_is_frozen_in_a_transaction) {
    test::postgres_client frozen(place_.url());
    ASSERT_EQ(frozen.run("BEGIN; SELECT 1 FROM posthorn_leases FOR SHARE"), std::nullopt);
    first_.leave();
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_leases WHERE name = 'dispatcher/first'"), 1);
    ASSERT_EQ(frozen.run("COMMIT"), std::nullopt);
    first_.leave();
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_leases WHERE name = 'dispatcher/first'"), 0);
}

// The server does not count a session as idle before it has had the end of what was sent.
TEST_F(postgres_claims, one_that_is_frozen_while_it_sends_is_ended_if_it_has_a_seat_locked) {
    const auto url =
        place_.url() +
        "%20-cidle_in_transaction_session_timeout%3D1000&application_name=" + place_.schema();
    a_store other(place_, "orders", {}, url);
    const std::unique_ptr<PGconn, decltype(&PQfinish)> frozen(PQconnectdb(url.c_str()), &PQfinish);
    ASSERT_EQ(PQenterPipelineMode(frozen.get()), 1);
    for (const auto* sql : {"BEGIN", "SELECT 1 FROM posthorn_leases FOR SHARE"})
        ASSERT_EQ(PQsendQueryParams(frozen.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 0),
                  1);
    ASSERT_EQ(PQsendFlushRequest(frozen.get()), 1);
    ASSERT_EQ(PQflush(frozen.get()), 0);
    const auto is_left = [&] {
        bool left = false;
        EXPECT_TRUE(succeeded(other.run([&](store_transaction& tx) -> result<> {
            const auto done = tx.leases().release("dispatcher/first", "first", first_.epoch);
            POSTHORN_TRY(done);
            left = *done;
            return {};
        })));
        return left;
    };
    test::postgres_client eye(place_.url());
    ASSERT_TRUE(test::eventually([&] {
        return !eye.rows(
                       "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND wait_event ="
                       " 'ClientRead' AND query LIKE '%posthorn_leases FOR SHARE%'")
                    .empty();
    }));
    EXPECT_FALSE(is_left());
    EXPECT_TRUE(test::eventually(is_left));
}

TEST_F(postgres_claims, nobody_waits_for_a_job_of_one_that_is_frozen_in_a_transaction) {
    const auto take = [&](const std::optional<lease>& seen) {
        std::optional<lease> taken;
        EXPECT_TRUE(succeeded(first_.store.run([&](store_transaction& tx) -> result<> {
            auto found = tx.leases().take("retention", "first", seen);
            POSTHORN_TRY(found);
            taken = *found;
            return {};
        })));
        return taken;
    };
    const auto before = take(std::nullopt);
    ASSERT_TRUE(before.has_value());
    test::postgres_client frozen(place_.url());
    ASSERT_EQ(frozen.run("BEGIN; SELECT 1 FROM posthorn_leases FOR SHARE"), std::nullopt);
    EXPECT_FALSE(take(before).has_value());
    ASSERT_EQ(frozen.run("COMMIT"), std::nullopt);
    EXPECT_TRUE(take(before).has_value());
}

TEST_F(postgres_claims, nobody_settles_what_another_has_claimed) {
    ASSERT_TRUE(succeeded(first_.store.put(sample())));
    ASSERT_THAT(first_.claim(), ElementsAre(1));
    for (const auto to :
         {outbox_status::sent, outbox_status::expired, outbox_status::dead, outbox_status::pending})
        EXPECT_EQ(second_.settle({.seq = 1, .to = to, .at = noon, .next_attempt_at = noon + 1h}), 0)
            << to_string(to);
    EXPECT_EQ(first_.settle({.seq = 1, .at = noon}), 1);
}

// A statement that waits for a row sees the row as it is then, and all else as it was before.
TEST_F(postgres_claims, of_one_that_sat_down_while_another_waited_for_the_row_count) {
    ASSERT_TRUE(succeeded(first_.store.put(sample())));
    test::postgres_client third(place_.url());
    ASSERT_EQ(
        third.run("BEGIN; INSERT INTO posthorn_leases VALUES ('dispatcher/third', 'third', 99, 0);"
                  "UPDATE outbox_due SET claim_epoch = 99"),
        std::nullopt);
    result<std::int64_t> settled = 1;
    std::jthread settling([&] {
        settled = first_.settle({.seq = 1, .to = outbox_status::dead, .at = noon, .error = "no"});
    });
    test::postgres_client eye(place_.url());
    ASSERT_TRUE(test::eventually([&] {
        return !eye.rows(
                       "SELECT 1 FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM"
                       " pg_stat_activity WHERE query LIKE '%" +
                       place_.schema() + "%outbox_due%')")
                    .empty();
    }));
    ASSERT_EQ(third.run("COMMIT"), std::nullopt);
    settling.join();
    EXPECT_EQ(settled, 0) << "it is the third's";
}

TEST_F(postgres_claims, a_requeued_message_is_anybodys) {
    first_.hot.epoch = first_.epoch;
    const auto body = sample();
    ASSERT_TRUE(succeeded(first_.store.put(body)));
    ASSERT_EQ(first_.settle({.seq = 1, .to = outbox_status::dead, .at = noon, .error = "no"}), 1);
    ASSERT_TRUE(succeeded(first_.store.run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().requeue(body.id));
        return {};
    })));
    EXPECT_THAT(second_.claim(), ElementsAre(1)) << "the first may be unable to reach it";
}

TEST_F(postgres_claims, a_retry_and_what_is_let_go_are_anybodys) {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(succeeded(first_.store.put(sample())));
    ASSERT_THAT(first_.claim(), ElementsAre(1, 2));
    EXPECT_EQ(first_.settle({.seq = 1,
                             .to = outbox_status::pending,
                             .at = noon,
                             .next_attempt_at = noon + 1min,
                             .charged = true,
                             .error = "no"}),
              1);
    ASSERT_TRUE(succeeded(first_.store.run([&](store_transaction& tx) {
        return first_.store.claims_in(tx).let_go(std::vector<std::int64_t>{2}, first_.epoch);
    })));
    EXPECT_THAT(second_.claim(), ElementsAre(2, 1));
}

TEST_F(postgres_claims, what_a_dispatcher_enqueues_itself_is_stored_as_claimed) {
    first_.hot.epoch = first_.epoch;
    ASSERT_TRUE(succeeded(first_.store.put(sample())));
    auto later = sample();
    later.deliver_at = noon + 1min;
    ASSERT_TRUE(succeeded(first_.store.put(later)));
    ASSERT_EQ(first_.hot.rows.size(), 2U);
    EXPECT_EQ(first_.hot.rows[0].claim, first_.epoch);
    EXPECT_EQ(first_.hot.rows[1].claim, 0)
        << "its time has not come; whoever is there then sends it";
    EXPECT_THAT(second_.claim(), ElementsAre(2));
    first_.hot.epoch = 0;  // As when its hot path is full.
    ASSERT_TRUE(succeeded(first_.store.put(sample())));
    EXPECT_EQ(first_.hot.rows[2].claim, 0);
    EXPECT_THAT(second_.claim(), ElementsAre(3, 2));
}

TEST_F(postgres_claims, keep_the_order_of_a_key_whoever_sends_its_messages) {
    second_.hot.epoch = second_.epoch;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(succeeded(first_.store.put(sample("k"))));
    ASSERT_THAT(second_.claim(), ElementsAre(1)) << "the others wait for it";
    ASSERT_THAT(first_.claim(), IsEmpty());
    EXPECT_EQ(second_.settle({.seq = 1, .at = noon, .followers_wait = true}), 1);
    ASSERT_EQ(second_.hot.rows.size(), 1U);
    EXPECT_EQ(second_.hot.rows[0].seq, 2);
    EXPECT_EQ(second_.hot.rows[0].claim, second_.epoch) << "released, and claimed with that";
    EXPECT_THAT(first_.claim(), IsEmpty());
    second_.leave();
    EXPECT_THAT(first_.claim(), ElementsAre(2));
    EXPECT_EQ(first_.settle({.seq = 2, .at = noon, .followers_wait = true}), 1);
    EXPECT_THAT(first_.claim(), ElementsAre(3));
}

/// One that listens, as every dispatcher does.
class listener {
public:
    explicit listener(const test::postgres_place& place) : client_(place.url()) {
        const auto channel = postgres::channel_of(postgres::quoted_identifier(place.schema()));
        EXPECT_EQ(client_.run("LISTEN " + postgres::quoted_identifier(channel)), std::nullopt);
    }
    /// How often it was told something since it was last asked, as far as it has come by now.
    int told() {
        EXPECT_EQ(client_.rows("SELECT 1").size(), 1U);  // What was told before comes with it.
        int count = 0;
        while (auto* const one = PQnotifies(client_.handle())) {
            ++count;
            PQfreemem(one);
        }
        return count;
    }

private:
    test::postgres_client client_;
};

TEST_F(postgres_claims, all_others_are_told_of_what_is_nobodys_and_of_nothing_else) {
    listener one(place_), other(place_);
    first_.hot.epoch = first_.epoch;
    ASSERT_TRUE(succeeded(first_.store.put(sample())));
    ASSERT_TRUE(succeeded(first_.store.run([](store_transaction&) -> result<> { return {}; })));
    EXPECT_EQ(one.told() + other.told(), 0) << "it sends that itself";

    first_.hot.epoch = 0;
    constexpr int messages = 200;
    std::vector<unit> many;
    std::promise<void> all;
    for (int i = 1; i <= messages; ++i)
        many.push_back({.work = enqueue(sample()), .done = [&all, i](const result<>&) {
                            if (i == messages) all.set_value();
                        }});
    first_.store.get().submit(std::move(many));
    all.get_future().wait();
    for (auto* const each : {&one, &other}) {
        int told = 0;
        EXPECT_TRUE(test::eventually([&] { return (told += each->told()) > 0; }));
        EXPECT_LT(told, messages / 10) << "once for all that came meanwhile";
    }
}

TEST_F(postgres_claims, no_two_seats_ever_have_the_same_epoch) {
    std::set<std::int64_t> epochs{first_.epoch, second_.epoch};
    first_.leave();
    const seated third(place_, "third");
    const seated again(place_, "first");
    epochs.insert({third.epoch, again.epoch});
    EXPECT_EQ(epochs.size(), 4U);
}

}  // namespace
}  // namespace posthorn::conformance
