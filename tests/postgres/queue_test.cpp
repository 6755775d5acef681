// The queue of a service on PostgreSQL, from which several take at a time.
#include "queue/queue.hpp"

#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "postgres/node.hpp"
#include "support/row_fuzz.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

class postgres_queue : public on_postgres {
protected:
    void put(int count, const std::string& order_key) {
        EXPECT_EQ(
            test::postgres_client(place_.url())
                .run(fmt::format(
                    "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type,"
                    " order_key, payload, content_type, received_at) SELECT i::text, 'orders',"
                    " 'Ship', 'Signal', {}, '{{}}', 'application/json', 0"
                    " FROM generate_series(1, {}) AS i",
                    order_key, count)),
            std::nullopt);
    }
    static std::vector<queued_message> take(a_store& from, std::string owner, std::int64_t limit) {
        std::vector<queued_message> taken;
        EXPECT_TRUE(succeeded(from.run([&](store_transaction& tx) -> result<> {
            auto given = take_queued(
                tx, {.endpoint = "Ship", .owner = owner, .limit = limit, .lease = 60s}, noon);
            if (!given) return std::unexpected(given.error());
            taken = *std::move(given);
            return {};
        })));
        return taken;
    }

    a_store first_{place_, "orders", {queue_tables()}};
    a_store second_{place_, "orders", {queue_tables()}};
};

TEST_F(postgres_queue, gives_each_message_to_one_of_two_that_take_at_the_same_time) {
    put(300, "NULL");
    std::vector<queued_message> theirs;
    std::jthread other([&] {
        for (int i = 0; i < 15; ++i)
            for (auto& one : take(second_, "w2", 10)) theirs.push_back(std::move(one));
    });
    std::multiset<std::int64_t> seqs;
    for (int i = 0; i < 15; ++i)
        for (const auto& one : take(first_, "w1", 10)) seqs.insert(one.seq);
    other.join();
    for (const auto& one : theirs) seqs.insert(one.seq);
    EXPECT_EQ(seqs.size(), 300U);
    EXPECT_EQ(std::set(seqs.begin(), seqs.end()).size(), 300U);
}

TEST_F(postgres_queue, gives_messages_of_one_order_key_to_one_at_a_time) {
    put(3, "'k'");
    const auto ours = take(first_, "w1", 1);
    ASSERT_EQ(ours.size(), 1U);
    EXPECT_TRUE(take(second_, "w2", 10).empty());
    EXPECT_TRUE(succeeded(first_.run([&](store_transaction& tx) -> result<> {
        const auto gone = acknowledge_queued(tx, {{ours[0].seq}, "w1"});
        if (!gone) return std::unexpected(gone.error());
        EXPECT_EQ(*gone, 1);
        return {};
    })));
    EXPECT_EQ(take(second_, "w2", 10).size(), 2U);
}

TEST_F(postgres_queue, gives_rows_of_every_type_and_extreme_and_those_beside_them) {
    test::row_fuzz rows(20'261'117, test::row_fuzz::database::postgres);
    test::postgres_client outsider(place_.url());
    int accepted = 0;
    for (int i = 0; i < 300; ++i) accepted += outsider.run(rows.queue_row("Ship")) ? 0 : 1;
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 300);
    put(1, "NULL");
    std::vector<std::int64_t> seqs;
    for (auto taken = take(first_, "first", 10); !taken.empty();
         taken = take(first_, "first", 10)) {
        seqs.clear();
        for (const auto& one : taken) seqs.push_back(one.seq);
        EXPECT_TRUE(succeeded(first_.run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(acknowledge_queued(tx, {.seqs = seqs, .owner = "first"}));
            return {};
        })));
    }
    EXPECT_EQ(number("SELECT count(*) FROM posthorn_queue"), 0);
}

}  // namespace
}  // namespace posthorn::conformance
