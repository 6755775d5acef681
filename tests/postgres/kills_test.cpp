// Backends that are killed before, during and after COMMIT, of the store's own units and of an
// application's own transactions.
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "postgres/node.hpp"
#include "support/eventually.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using test::postgres_client;

class postgres_kills : public on_postgres {
protected:
    /// Kills backends of the node until there were enough of each kind, while `send` is called
    /// again and again on so many threads.
    void kill_while(int threads, const std::function<result<>(const message&)>& send);
    /// What was answered as stored is there, once; what was refused is not.
    void expect_answers_to_be_true();

    a_store node_{place_, place_.schema()};

private:
    /// What a backend is at.
    struct moment {
        std::string_view name;
        std::string_view is;
        int kills = 0;
    };

    void kill_backends();
    void send_again_and_again(const std::function<result<>(const message&)>& send);

    const int wanted_ = test::number_from("POSTHORN_KILLS", 51);
    std::array<moment, 3> moments_{{
        {"before COMMIT", "state <> 'idle' AND query NOT LIKE 'COMMIT%'"},
        {"during COMMIT", "state = 'active' AND query LIKE 'COMMIT%'"},
        {"after COMMIT", "state = 'idle'"},
    }};
    std::atomic<int> kills_ = 0;
    std::atomic<int> stored_ = 0;
    std::mutex mutex_;
    std::map<uuid, result<>> answers_;
};

void postgres_kills::kill_backends() {
    postgres_client admin;
    while (kills_ < wanted_) {
        const int before = stored_;
        if (!test::eventually([&] { return stored_ > before; })) return;
        auto& now = moments_.at(static_cast<std::size_t>(kills_) % moments_.size());
        // One at a time: idle ones are many.
        const auto kill = fmt::format(
            "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE"
            " application_name = 'posthorn {}' AND {} ORDER BY random() LIMIT 1) AS found",
            place_.schema(), now.is);
        EXPECT_TRUE(test::eventually([&] {
            const auto killed = std::stoi(admin.rows(kill)[0][0].value_or("0"));
            now.kills += killed;
            kills_ += killed;
            return killed > 0;
        }));
    }
}

void postgres_kills::send_again_and_again(const std::function<result<>(const message&)>& send) {
    constexpr std::size_t answers_max = 1'000'000;
    std::unique_lock lock(mutex_);
    while (kills_ < wanted_ && answers_.size() < answers_max) {
        const auto body = sample();
        lock.unlock();
        const auto answer = send(body);
        stored_ += answer.has_value();
        // Without a server refusals would come by the million.
        if (!answer) static_cast<void>(test::eventually([&] { return kills_ >= wanted_; }, 2ms));
        lock.lock();
        answers_.emplace(body.id, answer);
    }
}

void postgres_kills::kill_while(int threads, const std::function<result<>(const message&)>& send) {
    {
        const std::jthread killer([&] { kill_backends(); });
        std::vector<std::jthread> senders;
        for (int i = 0; i < threads; ++i) senders.emplace_back([&] { send_again_and_again(send); });
    }
    EXPECT_GE(kills_, wanted_);
    for (const auto& one : moments_) {
        EXPECT_GE(one.kills, wanted_ / 3) << one.name;
        RecordProperty(std::string(one.name), one.kills);
    }
}

void postgres_kills::expect_answers_to_be_true() {
    int in_doubt = 0;
    std::set<std::string> there;
    for (const auto& row :
         postgres_client(place_.url()).rows("SELECT message_id FROM outbox_messages"))
        there.insert(row[0].value_or(""));
    for (const auto& [id, answer] : answers_) {
        if (answer)
            EXPECT_TRUE(there.contains(id.to_string())) << "answered and lost";
        else if (!answer.error().is_in_doubt())
            EXPECT_FALSE(there.contains(id.to_string())) << answer.error().what();
        else
            ++in_doubt;
    }
    fmt::print(
        "{} kills, a third each before, during and after COMMIT: {} of {} sends answered, "
        "{} in doubt, none lost\n",
        kills_.load(), stored_.load(), answers_.size(), in_doubt);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"),
              number("SELECT count(*) FROM outbox_pending"));
    EXPECT_TRUE(succeeded(node_.get().check_integrity()));
}

TEST_F(postgres_kills, at_any_moment_leave_the_answer_to_a_send_true) {
    kill_while(1, [this](const message& body) { return node_.put(body); });
    expect_answers_to_be_true();
}

TEST_F(postgres_kills, at_any_moment_leave_the_answer_to_an_applications_transaction_true) {
    ASSERT_EQ(postgres_client(place_.url()).run("CREATE TABLE orders (id text NOT NULL)"),
              std::nullopt);
    kill_while(4, [this](const message& body) {
        return node_
            .run_own([&](store_transaction& tx) -> result<> {
                POSTHORN_TRY(tx.execute("INSERT INTO orders VALUES (?)",
                                        std::vector<sql_param>{body.id.to_string()}));
                POSTHORN_TRY(tx.outbox().insert(body));
                return {};
            })
            .get();
    });
    expect_answers_to_be_true();
    // A row for each message: none alone, none twice.
    EXPECT_EQ(number("SELECT count(*) FROM orders"),
              number("SELECT count(*) FROM outbox_messages"));
    EXPECT_EQ(number("SELECT count(*) FROM orders JOIN outbox_messages ON message_id = id"),
              number("SELECT count(DISTINCT id) FROM orders"));
}

}  // namespace
}  // namespace posthorn::conformance
