// What the simulator holds against its databases, held against real ones: node processes and the
// server's backends are killed while messages go from one service to another and back.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/async/virtual_time.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "base/uuid_generator.hpp"
#include "integration/instance.hpp"
#include "sim/checks/checks.hpp"
#include "sim/checks/payloads.hpp"
#include "support/proof_run.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using test::eventually;

/// A row as PostgreSQL gives it.
class server_row final : public sim::answer_row {
public:
    explicit server_row(const test::postgres_client::row& of) : of_(of) {}
    [[nodiscard]] std::string text(int column) const override {
        return of_.at(static_cast<std::size_t>(column)).value_or("");
    }
    [[nodiscard]] std::int64_t number(int column) const override {
        const auto shown = text(column);
        return shown.empty() ? 0 : std::stoll(shown);
    }

private:
    const test::postgres_client::row& of_;
};

/// One service: its tables, and the processes that have been started for it.
struct service {
    service_on_server where;
    std::vector<std::unique_ptr<instance>> processes{};

    [[nodiscard]] sim::picture picture_of(sim::ledger& book) const {
        test::postgres_client eye(where.place->url());
        return sim::read_picture(
            where.id,
            [&](const std::string& sql, const auto& visit) {
                for (const auto& row : eye.rows(sql)) visit(server_row(row));
            },
            book);
    }
};

constexpr auto business_tables =
    "CREATE TABLE chain (number bigint PRIMARY KEY, tag text NOT NULL, hash bigint NOT NULL);"
    "CREATE TABLE effects (message_id text NOT NULL, source text NOT NULL,"
    " sent text NOT NULL DEFAULT '', rowid bigint GENERATED ALWAYS AS IDENTITY,"
    " expires_at bigint NOT NULL DEFAULT 4102444800000)";

/// A client of the sending service with SQL of its own: a link in the chain and some messages, in
/// one transaction.
class producer {
public:
    producer(const test::postgres_place& place, std::uint64_t seed)
        : url_(place.url()), dice_(seed) {}

    /// Whether the server said that it is committed. If not, nobody knows.
    bool write_one(sim::ledger& book) {
        std::vector<uuid> sent;
        sim::chain_link link;
        try {
            test::postgres_client client(url_);
            const auto must = [&](const std::string& sql) {
                if (auto why = client.run(sql)) throw std::runtime_error(*why);
            };
            must("BEGIN; LOCK TABLE chain IN EXCLUSIVE MODE");
            const auto last =
                client.rows("SELECT number, hash FROM chain ORDER BY number DESC LIMIT 1");
            if (!last.empty())
                link = {std::stoll(*last[0][0]),
                        static_cast<std::uint64_t>(std::stoll(*last[0][1]))};
            const auto tag = fmt::format("t{}", dice_.next());
            link = {link.number + 1, sim::hash_text(link.hash, tag)};
            must(fmt::format("INSERT INTO chain VALUES ({}, '{}', {})", link.number, tag,
                             static_cast<std::int64_t>(link.hash)));
            for (auto left = 1 + dice_.below(4); left > 0; --left) {
                sent.push_back(ids_.next());
                must(letter(sent.back()));
            }
            must("COMMIT");
        } catch (const std::exception&) {
            return false;
        }
        book.promised("orders", link, sent);
        return true;
    }

private:
    std::string letter(const uuid& id) {
        const auto key = dice_.below(2) == 0 ? "" : fmt::format("k{}", dice_.below(5));
        return fmt::format(
            "INSERT INTO outbox_messages (message_id, destination, endpoint, payload, order_key,"
            " max_retries) VALUES ('{}', 'stock', 'Effect', '{}', '{}', 1000)",
            id.to_string(), sim::payload_of(key, dice_.below(3)), key);
    }

    std::string url_;
    seeded_random dice_;
    real_clock clock_;
    uuid_generator ids_{[this] { return clock_.wall(); }, dice_};
};

class postgres_invariants : public testing::Test {
protected:
    postgres_invariants() {
        stock_.where.rest =
            free_ports + secret_with("orders") +
            "[handlers]\nEffect = \"sql:INSERT INTO effects (message_id, source) VALUES "
            "(:_message_id::uuid::text, :_source)\"\n";
        stock_.where.rest.replace(stock_.where.rest.find("admin = \"127.0.0.1:0\""),
                                  std::string("admin = \"127.0.0.1:0\"").size(), "admin = \"\"");
        for (auto* const each : {&stock_, &orders_})
            EXPECT_EQ(test::postgres_client(each->where.place->url()).run(business_tables),
                      std::nullopt);
    }

    void start_stock() {
        stock_.where.prepare(folder_.file("stock.toml"));
        stock_.processes.push_back(std::make_unique<instance>(folder_.file("stock.toml"), 1));
        orders_.where.rest =
            no_listeners + secret_with("stock") +
            "[routes]\nstock = \"http://127.0.0.1:" + stock_.processes.back()->port() + "\"\n";
        orders_.where.prepare(folder_.file("orders.toml"));
    }
    std::unique_ptr<instance> one_of_orders() {
        return std::make_unique<instance>(folder_.file("orders.toml"));
    }
    [[nodiscard]] bool dispatches(instance& one) const {
        return orders_.where.number(
                   fmt::format("SELECT count(*) FROM posthorn_leases WHERE name LIKE "
                               "'dispatcher/%/{}/%'",
                               one.child().id())) > 0;
    }
    /// Of the sending service, whichever it is.
    void kill_a_backend() {
        std::ignore = test::postgres_client(theirs_.url())
                          .run(fmt::format("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                           " WHERE pid <> pg_backend_pid() AND query LIKE '%{}%'"
                                           " ORDER BY random() LIMIT 1",
                                           ours_.schema()));
    }

    test::temporary_directory folder_;
    test::postgres_place ours_, theirs_;
    service orders_{{.id = "orders", .place = &ours_, .parts = "outbox"}};
    service stock_{{.id = "stock", .place = &theirs_}};
};

TEST_F(postgres_invariants, hold_though_senders_and_their_backends_are_killed) {
    constexpr std::size_t nodes = 3;
    virtual_time time;
    sim::ledger book(time);
    start_stock();
    for (std::size_t i = 0; i < nodes; ++i) orders_.processes.push_back(one_of_orders());
    ASSERT_TRUE(eventually([&] { return orders_.where.seats() == nodes; }, 60s, 20ms));
    std::atomic<bool> over = false;
    std::atomic<int> commits = 0;
    std::jthread writing([&] {
        producer client(ours_, 7);
        while (!over) commits += client.write_one(book);
    });
    // By hand: POSTHORN_PROOF_ROUNDS=200 integration_postgres --gtest_filter=postgres_invariants.*
    constexpr std::uint64_t small = 6;
    test::postgres_client eye(ours_.url());
    test::proof_run run("postgres_nodes", {.rounds = small});
    for (; run.goes_on(); run.advance()) {
        const auto before = commits.load();
        EXPECT_TRUE(eventually([&] { return commits > before + 5; }, 60s));
        const auto kind = run.seed() % 3;
        auto& victim = orders_.processes[run.seed() / 3 % nodes];
        if (kind == 0) {
            kill_a_backend();
            run.count("backends killed");
        } else if (run.rounds() > small && run.seed() % 20 == 1) {
            // It takes the whole lease until the others dare.
            EXPECT_TRUE(eventually([&] { return orders_.where.seats() == nodes; }, 60s, 20ms));
            victim->child().send_signal(SIGSTOP);
            EXPECT_TRUE(eventually([&] { return orders_.where.seats() < nodes; }, 60s, 20ms));
            victim->child().send_signal(SIGCONT);
            run.count("processes paused past their lease");
        } else {
            victim->child().send_signal(SIGKILL);
            EXPECT_TRUE(victim->child().wait().has_value());
            victim = one_of_orders();
            // While it starts, a session that is killed ends it, as it says.
            EXPECT_TRUE(eventually([&] { return dispatches(*victim); }, 60s, 20ms));
            run.count("processes killed");
        }
    }
    over = true;
    writing.join();
    EXPECT_TRUE(eventually([&] { return eye.rows("SELECT 1 FROM outbox_pending LIMIT 1").empty(); },
                           120s, 20ms));
    for (auto& one : orders_.processes) one->stop();
    stock_.processes.back()->stop();

    // What the world outside would have seen: who acknowledged what, and who recorded it.
    const sim::pictures all{{"orders", orders_.picture_of(book)},
                            {"stock", stock_.picture_of(book)}};
    for (const auto& [id, response] : all.at("stock").responses) {
        message of;
        of.id = id;
        of.destination = "stock";
        delivery answer;
        answer.what = outcome::delivered;
        answer.payload = response;
        book.answered(of, answer);
        book.believed(of, answer, true);
    }
    const auto count = sim::check_invariants(all, book);
    run.count("messages", count.messages);
    EXPECT_EQ(book.violations(), std::vector<std::string>{});
    EXPECT_EQ(count.effects, count.messages);
    EXPECT_GT(count.messages, 20U);
    EXPECT_EQ(eye.rows("SELECT sum(retry_count) FROM outbox_messages")[0][0], "0")
        << "nobody but a sender failed";
}

}  // namespace
}  // namespace posthorn::integration
