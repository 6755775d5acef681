// A queue that two processes of a service fill and serve, with workers that compete for it.
#include <latch>
#include <thread>

#include <fmt/format.h>

#include "integration/instance.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using test::eventually;

/// HASH stands for that of "worker-key".
constexpr auto worker_key =
    "[admin]\nkeys = [{ name = \"w\", role = \"worker\", hash = \"sha256:"
    "HASH\" }]\n";

/// Somebody who takes messages over HTTP and does them with SQL, in a transaction of its own.
class worker {
public:
    worker(const test::postgres_place& place, const instance& node, std::string name)
        : database_(place.url()),
          port_(static_cast<std::uint16_t>(std::stoi(node.port(1)))),
          name_(std::move(name)) {}

    std::vector<std::string> take(int limit, std::chrono::milliseconds lease) {
        const auto answer =
            post("/_rf/queue/Ship/take", fmt::format(R"({{"owner":"{}","limit":{},"leaseMs":{}}})",
                                                     name_, limit, lease.count()));
        constexpr std::string_view mark = R"("seq":)";
        std::vector<std::string> seqs;
        for (auto at = answer.find(mark); at != std::string::npos; at = answer.find(mark, at + 1))
            seqs.push_back(std::to_string(std::stoll(answer.substr(at + mark.size()))));
        return seqs;
    }
    /// Whether it was still this worker's.
    bool ship(const std::string& seq) {
        const auto shipped = database_.rows(
            "WITH gone AS (DELETE FROM posthorn_queue WHERE seq = " + seq + " AND taken_by = '" +
            name_ +
            "' RETURNING seq, payload, attempts) INSERT INTO shipped SELECT seq, payload, attempts,"
            " floor(extract(epoch FROM clock_timestamp()) * 1000), '" +
            name_ + "' FROM gone RETURNING seq");
        return !shipped.empty();
    }
    std::string acknowledge(const std::string& seq) {
        return post("/_rf/queue/ack", fmt::format(R"({{"owner":"{}","seqs":[{}]}})", name_, seq));
    }

private:
    [[nodiscard]] std::string post(const std::string& path, const std::string& body) const {
        const auto answer = test::ask(
            port_, fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                               "worker-key\r\nContent-Type: application/json\r\nConnection: "
                               "close\r\nContent-Length: {}\r\n\r\n{}",
                               path, body.size(), body));
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    }

    test::postgres_client database_;
    std::uint16_t port_;
    std::string name_;
};

class queue_on_postgres : public testing::Test {
protected:
    queue_on_postgres() {
        std::string keys = worker_key;
        const auto hash = test::run_process(
            {"/bin/sh", "-c", "printf worker-key | sha256sum | cut -c1-64 | tr -d '\\n'"});
        keys.replace(keys.find("HASH"), 4, hash.out);
        shipping_.rest = free_ports + keys + secret_with("orders") + "returns = \"" + key_text +
                         "\"\n[handlers]\nShip = \"queue\"\n";
        shipping_.prepare(folder_.file("shipping.toml"));
        run("CREATE TABLE shipped (seq bigint PRIMARY KEY, payload text, attempts int, at bigint,"
            " who text)");
    }
    void run(const std::string& sql) {
        ASSERT_EQ(test::postgres_client(place_.url()).run(sql), std::nullopt) << sql;
    }
    /// A service that sends to one of the two processes.
    [[nodiscard]] std::unique_ptr<sidecar> sender(const std::string& id, const instance& to) {
        return std::make_unique<sidecar>(
            folder_, id,
            std::string(quiet) + free_ports + secret_with("shipping") +
                "[routes]\nshipping = \"http://127.0.0.1:" + to.port() + "\"\n");
    }
    static void send(const sidecar& from, int first, int last) {
        from.database().run(fmt::format(
            "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT "
            "INTO outbox_messages (destination, endpoint, payload) SELECT 'shipping', 'Ship',"
            " '{{\"parcel\":' || i || '}}' FROM n",
            first, last));
    }

    test::temporary_directory folder_;
    test::postgres_place place_;
    service_on_server shipping_{.id = "shipping", .place = &place_};
};

TEST_F(queue_on_postgres, gives_each_message_to_one_of_its_workers_and_a_lost_ones_to_others) {
    constexpr int each = 50;
    instance first(folder_.file("shipping.toml"), 2);
    instance second(folder_.file("shipping.toml"), 2);
    const auto orders = sender("orders", first);
    const auto returns = sender("returns", second);
    send(*orders, 1, each);
    send(*returns, each + 1, 2 * each);
    ASSERT_TRUE(eventually(
        [&] { return shipping_.number("SELECT count(*) FROM posthorn_queue") == 2L * each; }, 30s,
        20ms));

    worker lost(place_, first, "lost");
    const auto left_behind = lost.take(5, 1s);
    ASSERT_EQ(left_behind.size(), 5U);
    const auto back_at =
        shipping_.number("SELECT min(taken_until) FROM posthorn_queue WHERE taken_by = 'lost'");

    std::latch both_have_some(2);
    const auto work = [&](const instance& through, const std::string& name) {
        worker busy(place_, through, name);
        auto taken = busy.take(7, 60s);
        both_have_some.arrive_and_wait();
        EXPECT_TRUE(eventually(
            [&] {
                for (const auto& seq : taken) EXPECT_TRUE(busy.ship(seq)) << seq;
                taken = busy.take(7, 60s);
                return taken.empty() &&
                       shipping_.number("SELECT count(*) FROM posthorn_queue") == 0;
            },
            30s, 20ms));
    };
    {
        const std::jthread other([&] { work(second, "w2"); });
        work(first, "w1");
    }
    EXPECT_EQ(shipping_.number("SELECT count(*) FROM shipped"), 2 * each);
    EXPECT_EQ(shipping_.number("SELECT count(DISTINCT payload) FROM shipped"), 2 * each);
    EXPECT_EQ(shipping_.number("SELECT count(DISTINCT who) FROM shipped"), 2);
    for (const auto& seq : left_behind) {
        EXPECT_EQ(shipping_.number("SELECT attempts FROM shipped WHERE seq = " + seq), 2);
        EXPECT_GE(shipping_.number("SELECT at FROM shipped WHERE seq = " + seq), back_at)
            << "it was another's before its time was over";
        EXPECT_FALSE(lost.ship(seq)) << "it is done already";
        EXPECT_EQ(lost.acknowledge(seq), R"({"count":0})");
    }
    EXPECT_EQ(shipping_.number("SELECT count(*) FROM shipped WHERE attempts > 1"), 5);
    orders->stop();
    returns->stop();
    first.stop();
    second.stop();
}

TEST_F(queue_on_postgres, shows_its_jobs_to_commands_and_to_the_doctor) {
    run("INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, payload,"
        " content_type, received_at, attempts, given_up_at, error) VALUES ('i', 'orders', 'Ship',"
        " 'Signal', '{}', 'application/json', 0, 20, 1, 'no such moon')");
    const auto program = [&](std::vector<std::string> words) {
        words.insert(words.begin(), POSTHORN_PROGRAM);
        words.insert(words.end(), {"--config", folder_.file("shipping.toml")});
        return test::run_process(words).out;
    };
    EXPECT_THAT(program({"doctor"}), testing::HasSubstr("1 of 1 job was given up"));
    EXPECT_THAT(program({"stats", "--json"}), testing::HasSubstr(R"("givenUp":1)"));
    EXPECT_THAT(program({"queue", "list", "--state", "given-up", "--endpoint", "Ship"}),
                testing::HasSubstr("no such moon"));
    EXPECT_THAT(program({"queue", "show", "1", "--payload", "--json"}),
                testing::HasSubstr(R"("payload":"{}")"));
    EXPECT_THAT(program({"queue", "retry-all", "--endpoint", "Ship"}), testing::HasSubstr("1"));
    EXPECT_EQ(shipping_.number("SELECT count(*) FROM posthorn_queue WHERE given_up_at IS NULL"), 1);
    EXPECT_THAT(program({"queue", "list", "--state", "waiting"}), testing::HasSubstr("Ship"));
    EXPECT_EQ(program({"queue", "list", "--state", "taken"}), "none\n");
}

TEST_F(queue_on_postgres, a_message_that_is_given_up_is_told_once_by_configuration) {
    shipping_.rest +=
        "[outbox]\non_dead = \"sql:INSERT INTO shipped VALUES (1, :parcel, :_attempts,"
        " 0, :_destination || :_error)\"\nmax_retries = 0\n[routes]\n"
        "orders = \"http://127.0.0.1:";
    const auto orders = std::make_unique<sidecar>(
        folder_, "orders",
        std::string(quiet) + free_ports + secret_with("shipping") +
            "[handlers]\nPaid = \"sql:INSERT INTO bills VALUES (:sum)\"\n");
    shipping_.rest += orders->port() + "\"\n";
    shipping_.prepare(folder_.file("shipping.toml"));
    instance first(folder_.file("shipping.toml"), 2);
    instance second(folder_.file("shipping.toml"), 2);
    run("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('orders', 'Paid',"
        " '{\"parcel\":\"p7\"}')");
    ASSERT_TRUE(eventually([&] { return shipping_.number("SELECT count(*) FROM shipped") == 1; },
                           30s, 20ms));
    EXPECT_THAT(test::postgres_client(place_.url())
                    .rows("SELECT payload || ' ' || who FROM shipped")
                    .at(0)
                    .at(0)
                    .value_or(""),
                testing::HasSubstr("p7 ordersPaid has no field 'sum'"));
    first.stop();
    second.stop();
    orders->stop();
}

}  // namespace
}  // namespace posthorn::integration
