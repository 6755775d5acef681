// PostgreSQL as a queue: rows that a consumer takes with SKIP LOCKED, over its Unix socket with
// libpq.
//
// Bare: publishers insert batches, each in one commit. With the guarantee: each of many connections
// commits a business row and an outbox row; the consumer claims outbox rows, commits dedupe and
// business rows in a database of its own, and then deletes what it claimed.
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <libpq-fe.h>
#include <poll.h>
#include <unistd.h>

#include "measure/pace.hpp"
#include "measure/payload.hpp"
#include "peers/peer.hpp"
#include "peers/server.hpp"

namespace posthorn::bench {
namespace {

using result_pointer = std::unique_ptr<PGresult, decltype(&PQclear)>;

/// One connection.
class postgres_wire {
public:
    explicit postgres_wire(const std::string& where) : raw_(PQconnectdb(where.c_str())) {
        if (PQstatus(raw_) != CONNECTION_OK) {
            const std::string why = PQerrorMessage(raw_);
            PQfinish(raw_);
            throw std::runtime_error(why);
        }
    }
    ~postgres_wire() { PQfinish(raw_); }
    postgres_wire(const postgres_wire&) = delete;
    postgres_wire& operator=(const postgres_wire&) = delete;

    [[nodiscard]] PGconn* raw() const { return raw_; }

    result_pointer run(const char* sql) { return check(PQexec(raw_, sql)); }
    void prepare(const char* name, const char* sql) {
        check(PQprepare(raw_, name, sql, 0, nullptr));
    }
    result_pointer run(const char* name, std::span<const char* const> values) {
        return check(PQexecPrepared(raw_, name, static_cast<int>(values.size()), values.data(),
                                    nullptr, nullptr, 0));
    }

private:
    result_pointer check(PGresult* got) {
        result_pointer kept(got, PQclear);
        const auto state = PQresultStatus(got);
        if (state != PGRES_COMMAND_OK && state != PGRES_TUPLES_OK)
            throw std::runtime_error(PQerrorMessage(raw_));
        return kept;
    }

    PGconn* raw_;
};

// An array of texts as PostgreSQL reads it. Ours are JSON: quotes and backslashes are escaped.
template <class Texts>
std::string array_of(const Texts& texts) {
    std::string all = "{";
    for (const auto& text : texts) {
        all += all.size() > 1 ? ",\"" : "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\') all += '\\';
            all += c;
        }
        all += '"';
    }
    return all += '}';
}

/// Waits for a word from the senders where they give one, and looks every millisecond where not:
/// the word serialises commits, so it is given where there are few of them.
class bell {
public:
    bell(postgres_wire& on, bool rings) : wire_(on), rings_(rings) {
        if (rings_) wire_.run("LISTEN charges");
    }
    void wait() {
        if (!rings_) {
            measure::sleep_until(measure::now_ns() + 1'000'000);
            return;
        }
        pollfd one{.fd = PQsocket(wire_.raw()), .events = POLLIN, .revents = 0};
        ::poll(&one, 1, 100);
        PQconsumeInput(wire_.raw());
        while (auto* word = PQnotifies(wire_.raw())) PQfreemem(word);
    }

private:
    postgres_wire& wire_;
    bool rings_;
};

class postgres_publisher final : public publisher {
public:
    postgres_publisher(const std::string& where, bool rings) : wire_(where) {
        wire_.prepare("add",
                      rings ? "WITH added AS (INSERT INTO queue(body) SELECT unnest($1::text[]))"
                              " SELECT pg_notify('charges', '')"
                            : "INSERT INTO queue(body) SELECT unnest($1::text[])");
    }
    void publish(std::span<const std::string> bodies) override {
        const auto all = array_of(bodies);
        wire_.run("add", std::array{all.c_str()});
    }

private:
    postgres_wire wire_;
};

constexpr auto claim_queue =
    "DELETE FROM queue WHERE id = ANY(ARRAY(SELECT id FROM queue ORDER BY id"
    " FOR UPDATE SKIP LOCKED LIMIT 512)) RETURNING body";

class postgres_consumer final : public consumer {
public:
    postgres_consumer(const std::string& where, bool rings) : wire_(where), bell_(wire_, rings) {
        wire_.prepare("claim", claim_queue);
    }

    std::span<const std::string_view> receive() override {
        bodies_.clear();
        wire_.run("BEGIN");
        got_ = wire_.run("claim", {});
        for (int i = 0; i < PQntuples(got_.get()); ++i)
            bodies_.emplace_back(PQgetvalue(got_.get(), i, 0),
                                 static_cast<std::size_t>(PQgetlength(got_.get(), i, 0)));
        if (bodies_.empty()) {
            wire_.run("COMMIT");
            bell_.wait();
        }
        return bodies_;
    }
    void acknowledge() override { wire_.run("COMMIT"); }

private:
    postgres_wire wire_;
    bell bell_;
    result_pointer got_{nullptr, PQclear};
    std::vector<std::string_view> bodies_;
};

class postgres_peer final : public peer {
public:
    explicit postgres_peer(const std::filesystem::path& folder) {
        // Its user has to reach its own folder through ours.
        std::filesystem::permissions(folder, std::filesystem::perms::others_exec,
                                     std::filesystem::perm_options::add);
        place_ = folder / "postgres";
        std::filesystem::create_directories(place_);
        const std::string programs = POSTGRES_PROGRAMS;
        if (::getuid() == 0)
            run_to_end({.command = {"chown", "postgres", place_}, .folder = folder});
        run_to_end({.command = {programs + "/initdb", "-D", place_ / "data", "-U", "bench", "-A",
                                "trust", "-E", "UTF8", "--no-sync"},
                    .folder = folder,
                    .user = "postgres"});
        server_.emplace(server_options{.command = {programs + "/postgres",
                                                   "-D",
                                                   place_ / "data",
                                                   "-k",
                                                   place_,
                                                   "-c",
                                                   "listen_addresses=",
                                                   "-c",
                                                   "max_connections=300",
                                                   "-c",
                                                   "shared_buffers=256MB",
                                                   "-c",
                                                   "max_wal_size=4GB",
                                                   "-c",
                                                   "checkpoint_timeout=30min",
                                                   "-c",
                                                   "wal_buffers=16MB",
                                                   "-c",
                                                   "synchronous_commit=on",
                                                   "-c",
                                                   "fsync=on"},
                                       .folder = place_,
                                       .user = "postgres",
                                       .stop_signal = 2});
        await();
        postgres_wire first(where("postgres"));
        first.run("CREATE DATABASE orders");
        first.run("CREATE DATABASE billing");
    }

    void begin(const arguments& given) override {
        rings_ = given.load.mode != measure::load_mode::concurrent;
        make_tables();
    }

    [[nodiscard]] std::string where(const std::string& database) const {
        return "host=" + place_.string() +
               " user=bench options='-c client_min_messages=warning' dbname=" + database;
    }
    [[nodiscard]] bool rings() const { return rings_; }

    std::unique_ptr<publisher> publish() override {
        return std::make_unique<postgres_publisher>(where("orders"), rings_);
    }
    std::unique_ptr<consumer> consume() override {
        return std::make_unique<postgres_consumer>(where("orders"), rings_);
    }
    [[nodiscard]] std::int64_t syncs() const override { return server_->syncs(); }

private:
    void await() {
        const auto until = measure::now_ns() + 60'000'000'000;
        while (PQping(where("postgres").c_str()) != PQPING_OK) {
            server_->check_alive();
            if (measure::now_ns() > until) throw std::runtime_error("PostgreSQL does not start");
            measure::sleep_until(measure::now_ns() + 50'000'000);
        }
    }
    void make_tables() const {
        // Due work is deleted, not marked: a row that changes leaves its old self behind.
        postgres_wire(where("orders"))
            .run(
                "DROP TABLE IF EXISTS queue, orders, outbox;"
                "CREATE TABLE queue(id bigserial PRIMARY KEY, body text NOT NULL);"
                "CREATE TABLE orders(id bigserial PRIMARY KEY, text text NOT NULL);"
                "CREATE TABLE outbox(id bigserial PRIMARY KEY,"
                " message_id uuid NOT NULL DEFAULT gen_random_uuid(), destination text NOT NULL,"
                " endpoint text NOT NULL, payload text NOT NULL,"
                " created_at timestamptz NOT NULL DEFAULT now())");
        postgres_wire(where("billing"))
            .run(
                "DROP TABLE IF EXISTS charges, inbox;"
                "CREATE TABLE charges(id bigserial PRIMARY KEY, text text NOT NULL);"
                "CREATE TABLE inbox(source text NOT NULL, message_id uuid NOT NULL,"
                " processed_at timestamptz NOT NULL DEFAULT now(),"
                " PRIMARY KEY (source, message_id))");
    }

    bool rings_ = false;
    std::filesystem::path place_;
    std::optional<server> server_;
};

/// Each sending thread has a connection, and each message a transaction of one statement.
class postgres_sender final : public measured_sender {
public:
    postgres_sender(const std::filesystem::path& folder, measure::board& shared, pid_t receiver,
                    postgres_peer& to)
        : measured_sender(folder, shared, {::getpid(), receiver}),
          to_(to),
          look_(to.where("orders")) {}

    void send(std::uint64_t index) override {
        const auto payload = measure::make_payload(index);
        mine().run("place", std::array{payload.c_str()});
    }
    void post(std::uint64_t /*index*/, std::function<void()> /*done*/) override {
        throw std::runtime_error("libpq has no senders that are called back");
    }
    void wait_settled() override {
        while (std::strcmp(PQgetvalue(look_.run("SELECT count(*) FROM outbox").get(), 0, 0), "0") !=
               0)
            measure::sleep_until(measure::now_ns() + 2'000'000);
    }

protected:
    [[nodiscard]] std::int64_t more_syncs() override { return to_.syncs(); }

private:
    postgres_wire& mine() {
        const std::scoped_lock guard(lock_);
        auto& wire = wires_[std::this_thread::get_id()];
        if (!wire) {
            wire = std::make_unique<postgres_wire>(to_.where("orders"));
            wire->prepare("place",
                          to_.rings()
                              ? "WITH placed AS (INSERT INTO orders(text) VALUES ($1)),"
                                " told AS (INSERT INTO outbox(destination, endpoint, payload)"
                                " VALUES ('billing', 'Charge', $1))"
                                " SELECT pg_notify('charges', '')"
                              : "WITH placed AS (INSERT INTO orders(text) VALUES ($1))"
                                " INSERT INTO outbox(destination, endpoint, payload)"
                                " VALUES ('billing', 'Charge', $1)");
        }
        return *wire;
    }

    postgres_peer& to_;
    postgres_wire look_;
    std::mutex lock_;
    std::map<std::thread::id, std::unique_ptr<postgres_wire>> wires_;
};

/// Relay and consumer in one: nothing stands between the two databases.
class postgres_receiver {
public:
    postgres_receiver(const postgres_peer& from, measure::board& shared)
        : shared_(shared),
          orders_(from.where("orders")),
          billing_(from.where("billing")),
          bell_(orders_, from.rings()) {
        orders_.prepare("claim",
                        "DELETE FROM outbox WHERE id = ANY(ARRAY(SELECT id FROM outbox ORDER BY id"
                        " FOR UPDATE SKIP LOCKED LIMIT 512)) RETURNING message_id, payload");
        billing_.prepare(
            "charge",
            "WITH come AS (SELECT * FROM unnest($1::uuid[], $2::text[]) AS t(id, body)),"
            " fresh AS (INSERT INTO inbox(source, message_id) SELECT 'orders', id"
            " FROM come ON CONFLICT DO NOTHING RETURNING message_id)"
            " INSERT INTO charges(text) SELECT body FROM come"
            " WHERE id IN (SELECT message_id FROM fresh) RETURNING text");
    }

    void run() {
        shared_.set_state(measure::board::receiver_state::ready);
        while (!shared_.must_stop())
            if (!take_batch()) bell_.wait();
        const auto count = billing_.run("SELECT count(*) FROM charges");
        shared_.set_rows(std::strtoull(PQgetvalue(count.get(), 0, 0), nullptr, 10));
    }

private:
    bool take_batch() {
        orders_.run("BEGIN");
        const auto claimed = orders_.run("claim", {});
        const auto rows = PQntuples(claimed.get());
        if (rows > 0) charge(claimed.get(), rows);
        orders_.run("COMMIT");
        return rows > 0;
    }

    void charge(const PGresult* claimed, int rows) {
        std::vector<std::string_view> ids;
        std::vector<std::string_view> bodies;
        for (int i = 0; i < rows; ++i) {
            ids.emplace_back(PQgetvalue(claimed, i, 0));
            bodies.emplace_back(PQgetvalue(claimed, i, 1));
        }
        const auto id_list = array_of(ids);
        const auto body_list = array_of(bodies);
        const auto charged = billing_.run("charge", std::array{id_list.c_str(), body_list.c_str()});
        std::vector<std::uint64_t> indexes;
        for (int i = 0; i < PQntuples(charged.get()); ++i)
            indexes.push_back(measure::index_of(PQgetvalue(charged.get(), i, 0)));
        shared_.effect(indexes);
    }

    measure::board& shared_;
    postgres_wire orders_;
    postgres_wire billing_;
    bell bell_;
};

peer_program make(const arguments& /*given*/) {
    return {.what = {.name = "postgres", .transport = "unix", .note = "SKIP LOCKED"},
            .start = [](const std::filesystem::path& folder,
                        const arguments&) { return std::make_shared<postgres_peer>(folder); },
            .own_sender =
                [](const std::filesystem::path& folder, measure::board& shared, pid_t receiver,
                   peer& to) {
                    return std::make_unique<postgres_sender>(folder, shared, receiver,
                                                             dynamic_cast<postgres_peer&>(to));
                },
            .own_receiver =
                [](peer& from, measure::board& shared) {
                    postgres_receiver(dynamic_cast<postgres_peer&>(from), shared).run();
                }};
}

}  // namespace
}  // namespace posthorn::bench

int main(int count, char** words) {
    return posthorn::bench::peer_main(count, words, posthorn::bench::make);
}
