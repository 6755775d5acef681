#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <stdexcept>
#include <thread>

#include <boost/asio/strand.hpp>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/async/io_threads.hpp"
#include "base/async/virtual_loop.hpp"
#include "base/uuid_generator.hpp"
#include "outbox/dispatch/dispatcher.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

/// A file that goes away with the test.
class database_file {
public:
    database_file() {
        std::string name = (std::filesystem::temp_directory_path() / "posthorn-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        folder_ = name;
    }
    ~database_file() { std::filesystem::remove_all(folder_); }
    database_file(const database_file&) = delete;
    database_file& operator=(const database_file&) = delete;
    [[nodiscard]] std::string path() const { return (folder_ / "orders.db").string(); }

private:
    std::filesystem::path folder_;
};

std::unique_ptr<store> open_store(const database_file& file, const sqlite::sqlite_seams& seams) {
    return value_or_throw(sqlite::open({.path = file.path(), .service = "orders"}, seams));
}

std::int64_t ask(store& from, std::string_view sql) {
    std::int64_t answer = -1;
    value_or_throw(from.read([&](store_reader& reader) {
        return reader.query(sql, {}, [&](const sql_row& row) { answer = row.integer(0); });
    }));
    return answer;
}

class counting_routes final : public route_table, public transport {
public:
    transport* find(std::string_view) override { return this; }
    task<std::vector<delivery>> deliver(message_batch batch) override {
        std::vector<delivery> answers(batch.size());
        for (auto& one : answers) one.what = what;
        for (const auto* one : batch) ++got[one->id];
        if (got.size() >= wanted && !std::exchange(told, true)) reached.set_value();
        co_return answers;
    }

    outcome what = outcome::delivered;
    std::map<uuid, int> got;
    std::size_t wanted = 1;
    std::promise<void> reached;
    bool told = false;
};

/// One node on a file, in one thread under virtual time.
class sqlite_node {
public:
    sqlite_node(virtual_loop& loop, const database_file& file, std::string owner)
        : loop_(loop),
          file_(open_store(file, {loop.time(), writer_, log_})),
          owner_(std::move(owner)) {
        running_.spawn(subject.run());
        loop_.settle();
    }
    ~sqlite_node() {
        running_.cancel();
        loop_.run(running_.join());
        file_->stop();
    }
    store& file() { return *file_; }

    uuid send(std::string destination) {
        message body;
        body.id = ids_.next();
        body.source = "orders";
        body.destination = std::move(destination);
        body.endpoint = "Test";
        body.payload = "{}";
        body.created_at = loop_.time().wall();
        body.expires_at = loop_.time().wall() + 24h;
        const auto id = body.id;
        result<> outcome;
        file_->submit({.work = [body](store_transaction& tx) -> result<> {
                           POSTHORN_TRY(tx.outbox().insert(body));
                           return {};
                       },
                       .done = [&](result<> answer) { outcome = std::move(answer); }});
        value_or_throw(outcome);
        return id;
    }

private:
    virtual_loop& loop_;
    inline_executor writer_, readers_;
    logger log_ = logger::null();
    seeded_random random_{1};
    uuid_generator ids_{[this] { return loop_.time().wall(); }, random_};
    std::unique_ptr<store> file_;
    std::string owner_;

public:
    counting_routes routes;

private:
    task_group running_{loop_.executor()};
    environment env_{loop_.time(),     loop_.time(), random_, log_,
                     loop_.executor(), readers_,     readers_};

public:
    dispatcher subject{{.env = env_, .store = *file_, .routes = routes},
                       {.lease = {.owner = owner_}}};
};

void run_sql(const database_file& file, const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file.path().c_str(), &handle), SQLITE_OK);
    char* problem = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &problem), SQLITE_OK) << problem;
    sqlite3_free(problem);
    sqlite3_close(handle);
}

TEST(sqlite_dispatch, sends_and_settles_on_the_file) {
    virtual_loop loop;
    const database_file file;
    sqlite_node node(loop, file, "first");
    const auto id = node.send("inventory");
    loop.run_for(10ms);
    EXPECT_EQ(node.routes.got[id], 1);
    EXPECT_EQ(ask(node.file(), "SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"), 1);
}

TEST(sqlite_dispatch, sends_rows_of_plain_sql_past_a_barrier_and_buries_bad_ones) {
    virtual_loop loop;
    const database_file file;
    sqlite_node node(loop, file, "first");
    loop.run_for(1s);
    const auto barriers = ask(node.file(), "SELECT value FROM posthorn_meta WHERE name='barrier'");
    run_sql(file,
            "PRAGMA synchronous = OFF;"
            "INSERT INTO outbox_messages (destination, endpoint, payload, message_type, expires_at)"
            " VALUES ('inventory', 'Test', '{}', 'Signal', 9000000000000),"
            "        ('inventory', 'Test', '{}', 'Telegram', 9000000000000)");
    loop.run_for(1010ms);
    EXPECT_EQ(node.routes.got.size(), 1U);
    EXPECT_EQ(ask(node.file(), "SELECT value FROM posthorn_meta WHERE name='barrier'"),
              barriers + 1);
    EXPECT_EQ(ask(node.file(),
                  "SELECT count(*) FROM outbox_messages WHERE status = 'Dead'"
                  " AND last_error LIKE '%Telegram%'"),
              1);
}

TEST(sqlite_dispatch, a_name_that_is_bytes_against_the_checks_hides_no_message) {
    virtual_loop loop;
    const database_file file;
    sqlite_node node(loop, file, "first");
    run_sql(file,
            "PRAGMA ignore_check_constraints = ON;"
            "INSERT INTO outbox_messages (destination, endpoint, payload, expires_at)"
            " VALUES (x'72', 'Test', '{}', 9000000000000), ('r', 'Test', '{}', 9000000000000)");
    loop.run_for(3s);
    EXPECT_EQ(node.routes.got.size(), 1U);
    EXPECT_EQ(ask(node.file(), "SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"), 1);
}

TEST(sqlite_dispatch, a_row_of_plain_sql_waits_for_its_deliver_at) {
    virtual_loop loop;
    const database_file file;
    sqlite_node node(loop, file, "first");
    const auto due = (loop.time().wall() + 90s).time_since_epoch().count();
    run_sql(file,
            "INSERT INTO outbox_messages (destination, endpoint, payload, deliver_at, expires_at)"
            " VALUES ('inventory', 'Test', '{}', " +
                std::to_string(due) + ", 9000000000000)");
    loop.run_for(90s - 1ms);
    EXPECT_EQ(node.routes.got.size(), 0U);
    loop.run_for(1ms);
    EXPECT_EQ(node.routes.got.size(), 1U);
}

TEST(sqlite_dispatch, an_owner_that_lost_its_lease_settles_nothing) {
    virtual_loop loop;
    const database_file file;
    sqlite_node node(loop, file, "first");
    node.routes.what = outcome::transient;
    run_sql(file,
            "UPDATE posthorn_leases SET owner = 'thief', epoch = epoch + 1, beat = 0"
            " WHERE name = 'dispatcher'");
    node.send("inventory");
    loop.run_for(1s);
    EXPECT_EQ(node.routes.got.size(), 1U);
    EXPECT_EQ(ask(node.file(), "SELECT sum(retry_count) FROM outbox_messages"), 0);
    node.routes.what = outcome::delivered;
    loop.run_for(20s);  // The thief is silent.
    EXPECT_EQ(ask(node.file(), "SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"), 1);
    EXPECT_EQ(ask(node.file(), "SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'"), 3);
}

TEST(sqlite_dispatch, a_second_node_takes_over_when_the_first_stops) {
    virtual_loop loop;
    const database_file file;
    auto first = std::make_unique<sqlite_node>(loop, file, "first");
    sqlite_node second(loop, file, "second");
    second.send("inventory");
    loop.run_for(2s);
    EXPECT_EQ(first->routes.got.size(), 1U);
    EXPECT_EQ(second.routes.got.size(), 0U);
    first.reset();
    second.send("inventory");
    loop.run_for(2s);
    EXPECT_EQ(second.routes.got.size(), 1U);
}

TEST(sqlite_dispatch, delivers_each_message_once_between_threads) {
    constexpr std::size_t senders = 4, each = 500;
    const database_file file;
    real_clock time;
    real_timer sleeper;
    logger log = logger::null();
    system_random random;
    uuid_generator ids([&] { return time.wall(); }, random);
    worker_threads writer("writer"), readers("readers", 2);
    auto orders = open_store(file, {time, writer, log});
    counting_routes routes;
    routes.wanted = senders * each;
    outbox_options options;
    options.lease.owner = "first";
    options.hand_over_rows = 100;  // Some of them take the cold path.
    io_threads threads("io", 2);
    const auto network = boost::asio::make_strand(threads.executor());
    const environment env{time, sleeper, random, log, network, readers, readers};
    dispatcher subject({env, *orders, routes}, options);
    auto running = start(network, subject.run());

    std::vector<std::jthread> producers;
    for (std::size_t i = 0; i < senders; ++i)
        producers.emplace_back([&] {
            for (std::size_t j = 0; j < each; ++j) {
                message body;
                body.id = ids.next();
                body.source = "orders";
                body.destination = j % 2 == 0 ? "inventory" : "billing";
                body.endpoint = "Test";
                body.payload = "{}";
                body.created_at = time.wall();
                body.expires_at = time.wall() + 24h;
                orders->submit({.work = [body](store_transaction& tx) -> result<> {
                                    POSTHORN_TRY(tx.outbox().insert(body));
                                    return {};
                                },
                                .done = [](const result<>&) {}});
            }
        });
    producers.clear();
    routes.reached.get_future().wait();
    subject.stop();
    running.get();
    threads.stop();
    EXPECT_EQ(ask(*orders, "SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"),
              std::int64_t{senders * each});
    for (const auto& [id, times] : routes.got) EXPECT_EQ(times, 1);
    orders->stop();
}

}  // namespace
}  // namespace posthorn
