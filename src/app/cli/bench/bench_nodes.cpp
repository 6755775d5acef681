#include "app/cli/bench/bench_nodes.hpp"

#include <array>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <posthorn/node.hpp>

#include "measure/pace.hpp"
#include "measure/payload.hpp"
#include "measure/sync_watch.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::cli {
namespace {

constexpr std::int64_t millisecond_ns = 1'000'000;

// A handler runs on the thread that commits what it wrote: with the sync that follows there, the
// charges since the last one are on disk.
thread_local std::vector<std::uint64_t> charged;

template <class IsSettled>
void wait_until(IsSettled is_settled) {
    const auto until = measure::now_ns() + 60'000 * millisecond_ns;
    while (!is_settled()) {
        if (measure::now_ns() > until)
            throw std::runtime_error("messages took effect and are not marked as sent");
        measure::sleep_until(measure::now_ns() + 50 * millisecond_ns);  // Counting takes its time.
    }
}

measure::usage usage_in(const bench_setting& with, const measure::board& shared) {
    const std::array us{::getpid()};  // And the other service, which is a child.
    auto sum = measure::usage_of(us, with.folder);
    sum.syncs = static_cast<std::int64_t>(measure::syncs_so_far() + shared.receiver_syncs());
    return sum;
}

class node_sender final : public measure::sender {
public:
    node_sender(const bench_setting& with, measure::board& shared)
        : with_(with), shared_(shared), orders_(start_orders(with, shared.text(), false)) {}
    ~node_sender() override { orders_->stop(); }

    void send(std::uint64_t index) override { orders_->transact(placing(index)); }

    void post(std::uint64_t index, std::function<void()> done) override {
        orders_->transact_then(placing(index),
                               [this, next = std::move(done)](const std::exception_ptr& why) {
                                   if (why) {
                                       const std::scoped_lock guard(lock_);
                                       failure_ = why;
                                   }
                                   next();
                               });
    }

    void wait_settled() override {
        {
            const std::scoped_lock guard(lock_);
            if (failure_) std::rethrow_exception(failure_);
        }
        wait_until([this] { return orders_->stats().pending == 0; });
    }

    measure::usage used() override { return usage_in(with_, shared_); }

private:
    static std::function<void(transaction&)> placing(std::uint64_t index) {
        return [payload = measure::make_payload(index)](transaction& tx) {
            tx.execute("INSERT INTO orders(text) VALUES (?)", payload);
            tx.send("billing", "Charge", payload);
        };
    }

    bench_setting with_;
    measure::board& shared_;
    std::unique_ptr<node> orders_;
    std::mutex lock_;
    std::exception_ptr failure_;
};

class sql_sender final : public measure::sender {
public:
    sql_sender(const bench_setting& with, measure::board& shared, measure::board& of_orders)
        : with_(with), shared_(shared), of_orders_(of_orders), file_(open(with)) {}

    // What any program in any language would do. Its senders take turns, as one handle wants it.
    void send(std::uint64_t index) override {
        const auto payload = measure::make_payload(index);
        const auto sql = fmt::format(
            "BEGIN IMMEDIATE; INSERT INTO orders(text) VALUES ('{0}');"
            "INSERT INTO outbox_messages(destination, endpoint, payload)"
            " VALUES ('billing', 'Charge', '{0}'); COMMIT",
            payload);
        const std::scoped_lock guard(lock_);
        if (auto done = file_.execute(sql.c_str()); !done) throw std::move(done).error();
    }

    void post(std::uint64_t index, std::function<void()> done) override {
        send(index);
        done();
    }

    void wait_settled() override {
        wait_until([this] {
            const std::scoped_lock guard(lock_);
            auto left =
                file_.integer("SELECT count(*) FROM outbox_messages WHERE status = 'Pending'");
            if (!left) throw std::move(left).error();
            return *left == 0;
        });
    }

    measure::usage used() override {
        auto sum = usage_in(with_, shared_);
        sum.syncs += static_cast<std::int64_t>(of_orders_.receiver_syncs());
        return sum;
    }

private:
    static sqlite::connection open(const bench_setting& with) {
        auto opened = sqlite::connection::open({.path = (with.folder / "orders.db").string()});
        if (!opened) throw std::move(opened).error();
        return *std::move(opened);
    }

    bench_setting with_;
    measure::board& shared_;
    measure::board& of_orders_;
    std::mutex lock_;
    sqlite::connection file_;
};

}  // namespace

void tell_effects(measure::board& shared, bool counts_syncs) {
    measure::watch_syncs([&shared, counts_syncs] {
        if (counts_syncs) shared.add_syncs(1);
        if (charged.empty()) return;
        shared.effect(charged);
        charged.clear();
    });
}

std::unique_ptr<node> start_billing(const bench_setting& with, measure::board& shared) {
    node_options options{.service = "billing",
                         .store = {.database = (with.folder / "billing.db").string()},
                         .secrets = {{"orders", {with.secret}}},
                         .log_level = "error"};
    if (with.transport == "unix")
        options.listen.unix_socket = (with.folder / "billing.sock").string();
    if (with.transport == "http") options.listen.http = "127.0.0.1:0";
    auto billing = std::make_unique<node>(std::move(options));
    billing->transact([](transaction& tx) {
        tx.execute("CREATE TABLE charges(id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
    });
    billing->handle("Charge", [](context& with_tables, const message& received) {
        with_tables.execute("INSERT INTO charges(text) VALUES (?)", received.payload);
        charged.push_back(measure::index_of(received.payload));
    });
    billing->start();
    const auto addresses = billing->addresses();
    shared.set_state(measure::board::receiver_state::ready,
                     addresses.empty() ? "inprocess:" : addresses.front());
    return billing;
}

std::unique_ptr<node> start_orders(const bench_setting& with, const std::string& address,
                                   bool shared_file) {
    auto orders = std::make_unique<node>(node_options{
        .service = "orders",
        .store = {.database = (with.folder / "orders.db").string(), .shared = shared_file},
        .routes = {{"billing", address}},
        .secrets = {{"billing", {with.secret}}},
        .log_level = "error"});
    orders->transact([](transaction& tx) {
        tx.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
    });
    orders->start();
    return orders;
}

std::uint64_t count_charges(node& billing) {
    return static_cast<std::uint64_t>(billing.transact([](transaction& tx) {
        return tx.query_value<std::int64_t>("SELECT count(*) FROM charges").value_or(0);
    }));
}

std::unique_ptr<measure::sender> make_node_sender(const bench_setting& with,
                                                  measure::board& shared) {
    return std::make_unique<node_sender>(with, shared);
}

std::unique_ptr<measure::sender> make_sql_sender(const bench_setting& with, measure::board& shared,
                                                 measure::board& of_orders) {
    return std::make_unique<sql_sender>(with, shared, of_orders);
}

}  // namespace posthorn::cli
