#include "chaos/party.hpp"

#include <fstream>

#include <fmt/format.h>

#include "chaos/stamps.hpp"
#include "crash/chain.hpp"
#include "support/eventually.hpp"
#include "support/raw_http.hpp"
#include "support/sqlite_file.hpp"

namespace posthorn::chaos {
namespace {

using namespace std::chrono_literals;
using crash::link_hash;

// It sends while there is chaos; but where that takes long, the rest goes out without waiting.
constexpr std::int64_t pending_max = 400;
constexpr auto chaos_max = 20s;
constexpr std::size_t complaints_max = 20;

// Brisk, and so that nothing waits long for somebody who will not answer.
constexpr std::string_view settings = R"([outbox]
poll_interval = "50ms"
attempt_timeout = "{}"
request_timeout = "2s"
drain_timeout = "5s"
[limits]
header_timeout = "4s"
idle_timeout = "8s"
)";

constexpr std::string_view tables[] = {
    "CREATE TABLE sent (n INTEGER PRIMARY KEY, kind TEXT, key TEXT, pos INTEGER)",
    "CREATE TABLE heads (key TEXT PRIMARY KEY, pos INTEGER, hash TEXT)",
    "CREATE TABLE effects (n INTEGER, key TEXT, pos INTEGER, stamp TEXT)",
    "CREATE TABLE chains (key TEXT PRIMARY KEY, pos INTEGER, hash TEXT)",
    "CREATE TABLE answers (n INTEGER, stamp TEXT, own_stamp TEXT)"};

}  // namespace

bool canaries::is_in(std::string_view text) const {
    return text.contains(payload) || text.contains(secret) || text.contains(bytes);
}

/// What a message says.
struct party::link {
    std::int64_t n = 0;
    std::string key{};
    std::int64_t pos = 0;
    std::string hash{};

    static link of(context& c, const message& received) {
        link read;
        c.for_each_row(
            [&](const sql_row& row) {
                read = {row.get<std::int64_t>(0), std::string(row.text(1)),
                        row.get<std::int64_t>(2), std::string(row.text(3))};
            },
            "SELECT json_extract(?1, '$.n'), json_extract(?1, '$.key'), json_extract(?1, '$.pos'),"
            " json_extract(?1, '$.hash')",
            received.payload);
        return read;
    }
};

party::party(party_options with) : with_(std::move(with)), chance_(with_.seed) {
    keys_ = chance_.between(6, 40);  // What shares one goes one by one.
}

configuration party::options(const std::string& more) {
    const auto file_name = with_.folder.file(with_.service + ".toml");
    // Who gives up first, the lane or what is below it.
    std::ofstream(file_name) << fmt::format(settings, chance_.in(0.5) ? "1500ms" : "4s") << more;
    auto from = load(file_name);
    auto& made = from.options;
    made.service = with_.service;
    made.store.database = file();
    made.store.shared = false;
    made.listen.http.clear();
    made.listen.admin = "127.0.0.1:0";
    made.secrets[with_.peer] = {"base64:" + with_.secrets.secret};
    made.retry = {.retries_max = -1,
                  .backoff = exponential_backoff{.base = 5ms, .max = 80ms, .jitter_max = 10ms}};
    made.log_level = "debug";
    made.log_sink = [this](std::string_view line) { hear(line); };
    return from;
}

void party::start(configuration changed) {
    // Few at once: five that go down with one connection would shut the lane for a second.
    changed.options.lanes[with_.peer] = {.window = static_cast<std::int32_t>(chance_.between(1, 4)),
                                         .batch = static_cast<std::int32_t>(chance_.spread(1, 20))};
    node_ = std::make_unique<node>(std::move(changed));
    node_->transact([](transaction& tx) {
        for (const auto table : tables) tx.execute(table);
    });
    node_->handle("Link", [this](context& c, const message& m) { return take(c, m); });
    node_->handle("Ask", [this](context& c, const message& m) {
        return m.type == message_type::response ? take_answer(c, m) : take(c, m);
    });
    node_->handle("Linked", [this](context& c, const message& m) { return take_answer(c, m); });
    node_->start();
}

void party::stop() {
    if (node_) node_->stop();
}

void party::send(std::int64_t messages) {
    const auto end_at = clock_.steady() + chaos_max;
    for (const auto end = numbers_ + messages; numbers_ < end;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_at - clock_.steady());
        (void)test::eventually([&] { return node_->stats().pending < pending_max; }, left, 20ms);
        const auto first = numbers_ + 1;
        numbers_ = std::min(end, numbers_ + chance_.spread(1, 20));
        node_->transact([&](transaction& tx) {
            for (auto n = first; n <= numbers_; ++n) send_one(tx, n);
        });
        if (!chance_.in(0.1)) continue;
        try {
            node_->transact([&](transaction& tx) {
                send_one(tx, -first);
                throw std::runtime_error("taken back");
            });
        } catch (const std::runtime_error&) {
            with_.counts.add("taken back");
        }
    }
}

void party::send_one(transaction& tx, std::int64_t n) {
    std::string key;
    std::int64_t pos = 0;
    std::string hash;
    if (chance_.in(0.4)) {
        key = fmt::format("k{}", chance_.between(1, keys_));
        pos = tx.query_value<std::int64_t>("SELECT pos FROM heads WHERE key = ?", key).value_or(0) +
              1;
        hash = link_hash(
            n,
            tx.query_value<std::string>("SELECT hash FROM heads WHERE key = ?", key).value_or(""));
        tx.execute("INSERT OR REPLACE INTO heads VALUES (?, ?, ?)", key, pos, hash);
    }
    const bool asks = chance_.in(0.2);
    const auto filling = std::string(static_cast<std::size_t>(chance_.spread(1, 6000)), '.');
    send_options how{.type = asks ? message_type::command : message_type::signal, .order_key = key};
    if (chance_.in(0.1)) how.max_retries = static_cast<std::int32_t>(chance_.between(0, 3));
    if (asks) how.correlation_id = std::to_string(n);
    tx.execute("INSERT INTO sent VALUES (?, ?, ?, ?)", n, asks ? "Ask" : "Link", key, pos);
    tx.send(
        with_.peer, asks ? "Ask" : "Link",
        fmt::format(R"({{"n":{},"key":"{}","pos":{},"hash":"{}","canary":"{}","filling":"{}"}})", n,
                    key, pos, hash, with_.secrets.payload, filling),
        how);
}

std::string party::take(context& c, const message& received) {
    const auto next = link::of(c, received);
    const auto stamp = make_stamp(next.n, ++runs_);
    c.execute("INSERT INTO effects VALUES (?, ?, ?, ?)", next.n, next.key, next.pos, stamp);
    if (!next.key.empty()) extend_chain(c, next);
    if (received.type == message_type::signal)
        c.send(received.source, "Linked",
               fmt::format(R"({{"n":{},"answer":{},"canary":"{}"}})", next.n, stamp,
                           with_.secrets.payload),
               {.order_key = next.key});
    stumble(next.n);
    return stamp;
}

// Against the order of commits at the sender, at the moment of the effect.
void party::extend_chain(context& c, const link& next) {
    const auto pos =
        c.query_value<std::int64_t>("SELECT pos FROM chains WHERE key = ?", next.key).value_or(0) +
        1;
    const auto hash = link_hash(
        next.n,
        c.query_value<std::string>("SELECT hash FROM chains WHERE key = ?", next.key).value_or(""));
    if (pos != next.pos || hash != next.hash)
        complain(fmt::format("message {} of {} is {} of {} and came as {}", next.n,
                             c.received().source, next.pos, next.key, pos));
    c.execute("INSERT OR REPLACE INTO chains VALUES (?, ?, ?)", next.key, pos, hash);
}

// Some handlers fail when they have done everything, once.
void party::stumble(std::int64_t number) {
    if (number % 23 != 0) return;
    const std::scoped_lock lock(mutex_);
    if (!stumbled_.insert(number).second) return;
    with_.counts.add("handlers failed");
    throw std::runtime_error("stumbled");
}

std::string party::take_answer(context& c, const message& received) {
    const bool is_response = received.type == message_type::response;
    const auto n =
        is_response ? std::stoll(received.correlation_id)
                    : c.query_value<std::int64_t>("SELECT json_extract(?, '$.n')", received.payload)
                          .value_or(0);
    const auto stamp = make_stamp(answers_from + n, ++runs_);
    if (is_response)
        c.execute("INSERT INTO answers VALUES (?, ?, ?)", n, received.payload, stamp);
    else
        c.execute("INSERT INTO answers VALUES (?, json_extract(?, '$.answer'), ?)", n,
                  received.payload, stamp);
    return stamp;
}

party::standing party::drain() {
    test::sqlite_file seen(file());
    const auto dead =
        seen.lines("SELECT message_id FROM outbox_messages WHERE status = 'Dead' ORDER BY seq");
    for (std::size_t from = 0; from < dead.size(); from = dead.find('\n', from) + 1)
        if (const auto id = uuid::parse(std::string_view(dead).substr(from, 36)))
            if (node_->requeue(*id)) with_.counts.add("requeued");
    return {.sent = seen.integer("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"),
            .left = seen.integer("SELECT count(*) FROM outbox_messages WHERE status <> 'Sent'")};
}

void party::hear(std::string_view line) {
    if (with_.secrets.is_in(line)) complain("a canary is in the log: " + std::string(line));
}

void party::complain(std::string what) {
    const std::scoped_lock lock(mutex_);
    if (complaints_.size() < complaints_max)
        complaints_.push_back(with_.service + ": " + std::move(what));
}

std::vector<std::string> party::complaints() const {
    const std::scoped_lock lock(mutex_);
    return complaints_;
}

std::string party::metrics() const {
    std::string said;
    for (const auto& address : node_->addresses())
        if (const auto port = test::port_in(address); address.starts_with("http:") && port != 0)
            for (const auto* const path : {"/metrics", "/_rf/health", "/_rf/outbox/failed"})
                said += test::ask(port, fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n"
                                                    "Connection: close\r\n\r\n",
                                                    path))
                            .body;
    return said;
}

}  // namespace posthorn::chaos
