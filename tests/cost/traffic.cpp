#include "cost/traffic.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "conformance/store/storage/sqlite_connection.hpp"

namespace posthorn::cost {
namespace {

std::unique_ptr<node_runtime> open(const std::string& service, const std::string& database) {
    config settings;
    settings.service.id = service;
    settings.store.url.path = database;
    settings.store.shared = false;
    settings.listen.http.reset();
    settings.listen.admin.reset();
    settings.log.level = log_level::error;
    settings.outbox.drain_timeout = std::chrono::milliseconds{0};
    settings.routes["billing"].url = "inprocess:";
    return value_or_throw(node_runtime::open(std::move(settings), {}));
}

}  // namespace

traffic::traffic(const std::filesystem::path& database)
    : billing_(open("billing", database.string() + ".billing")),
      orders_(open("orders", database.string())) {
    transactional_handler next = [this](context&, const message&) {
        ++handled_;
        if (!stopping_) send();
        return std::string{};
    };
    value_or_throw(billing_->core().registry().add("Charge", {.run = std::move(next)}));
}

traffic::~traffic() {
    stopping_ = true;
    orders_->stop_and_wait();
    billing_->stop_and_wait();
}

void traffic::start() {
    for (auto* one : {billing_.get(), orders_.get()})
        value_or_throw(posthorn::start(one->network(), one->start()).get());
    for (int i = 0; i < in_flight; ++i) send();
}

void traffic::send() {
    orders_->core().submit_then(
        [](transaction& tx) { tx.send("billing", "Charge", R"({"amount":1})"); },
        [](const std::exception_ptr&) {});
}

double traffic::rate(std::chrono::milliseconds span) {
    const real_clock time;
    const auto before = handled_.load();
    const auto begun = time.steady();
    std::unique_lock lock(mutex_);
    never_.wait_for(lock, span, [] { return false; });  // A span of real time is what is measured.
    const std::chrono::duration<double> took = time.steady() - begun;
    return static_cast<double>(handled_ - before) / took.count();
}

void make_database(const std::filesystem::path& database, const old_messages& old) {
    {
        const auto made = open("orders", database.string());
    }
    conformance::sqlite_connection plain(database.string(), nullptr, conformance::durability::none);
    const auto run = [&](const std::string& sql) { ASSERT_EQ(plain.run(sql), std::nullopt); };
    const auto insert = [&](int first, int count, std::string_view status) {
        if (count == 0) return;
        run(fmt::format(
            "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n LIMIT {}) "
            "INSERT INTO outbox_messages(message_id, destination, endpoint, payload, status, "
            "created_at, expires_at, sent_at, last_error) "
            "SELECT printf('01900000-0000-7000-8000-%012x', i), 'billing', 'Charge', "
            "'{{\"amount\":1}}', '{}', 1700000000000, 1700086400000, "
            "{}, 'no answer' FROM n",
            first, count, status, status == "Sent" ? "1700000000000 + i" : "NULL"));
    };
    insert(1, old.sent, "Sent");
    insert(old.sent + 1, old.dead, "Dead");
    run("INSERT OR IGNORE INTO outbox_closed (seq, status, at) "
        "SELECT seq, status, created_at FROM outbox_messages WHERE status = 'Dead'");
}

}  // namespace posthorn::cost
