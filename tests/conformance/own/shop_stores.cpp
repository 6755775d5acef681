#include "conformance/own/shop_stores.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace shop {
namespace {

using posthorn::own_message;
using posthorn::uuid;
using posthorn::wall_time;

/// One statement, from its parameters to its rows.
class query {
public:
    query(const database& in, const char* sql) : handle_(in.handle()) {
        if (sqlite3_prepare_v2(handle_, sql, -1, &made_, nullptr) != SQLITE_OK) fail();
    }
    ~query() { sqlite3_finalize(made_); }
    query(const query&) = delete;
    query& operator=(const query&) = delete;

    query& with(std::string_view text) {
        sqlite3_bind_text(made_, ++bound_, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT);
        return *this;
    }
    query& with(std::int64_t number) {
        sqlite3_bind_int64(made_, ++bound_, number);
        return *this;
    }
    query& with(const uuid& id) { return with(id.to_string()); }
    query& with(wall_time at) { return with(at.time_since_epoch().count()); }
    query& with(std::optional<wall_time> at) {
        return at ? with(*at) : (++bound_, *this);  // What is not bound is NULL.
    }

    bool next() {
        const int code = sqlite3_step(made_);
        if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
        return code == SQLITE_ROW;
    }
    /// Whether it changed a row.
    bool run() {
        next();
        return sqlite3_changes(handle_) > 0;
    }
    [[nodiscard]] std::string text(int column) const {
        const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(made_, column));
        return bytes == nullptr
                   ? std::string()
                   : std::string(bytes,
                                 static_cast<std::size_t>(sqlite3_column_bytes(made_, column)));
    }
    [[nodiscard]] std::int64_t number(int column) const {
        return sqlite3_column_int64(made_, column);
    }
    std::vector<own_message> messages() {
        std::vector<own_message> all;
        while (next())
            all.push_back({.id = uuid::parse(text(0)).value(),
                           .event_type = text(1),
                           .payload = text(2),
                           .created_at = wall_time(std::chrono::milliseconds(number(3))),
                           .retry_count = static_cast<std::int32_t>(number(4)),
                           .error = text(5)});
        return all;
    }

private:
    [[noreturn]] void fail() const { throw std::runtime_error(sqlite3_errmsg(handle_)); }

    sqlite3* handle_;
    sqlite3_stmt* made_ = nullptr;
    int bound_ = 0;
};

class outbox final : public posthorn::own_outbox {
public:
    explicit outbox(database& in) : in_(in) {}

    void add(const own_message& what) override {
        query(in_,
              "INSERT INTO shop_events (id, type, payload, created_at, retries, error)"
              " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
            .with(what.id)
            .with(what.event_type)
            .with(what.payload)
            .with(what.created_at)
            .with(what.retry_count)
            .with(what.error)
            .run();
    }
    std::vector<own_message> pending(std::size_t limit, wall_time now) override {
        return query(in_,
                     "SELECT id, type, payload, created_at, retries, error FROM shop_events"
                     " WHERE state = 'Pending' AND next_at <= ? ORDER BY number LIMIT ?")
            .with(now)
            .with(static_cast<std::int64_t>(limit))
            .messages();
    }
    void mark_published(const uuid& id, wall_time at) override {
        query(in_, "UPDATE shop_events SET state = 'Published', published_at = ? WHERE id = ?")
            .with(at)
            .with(id)
            .run();
    }
    void mark_failed(const uuid& id, std::string_view error,
                     std::optional<wall_time> next) override {
        query(in_,
              "UPDATE shop_events SET retries = retries + 1, error = ?1,"
              " next_at = coalesce(?2, next_at),"
              " state = CASE WHEN ?2 IS NULL THEN 'Failed' ELSE 'Pending' END WHERE id = ?3")
            .with(error)
            .with(next)
            .with(id)
            .run();
    }

private:
    database& in_;
};

class inbox final : public posthorn::own_inbox {
public:
    explicit inbox(database& in) : in_(in) {}

    bool exists(std::string_view source, const uuid& id) override {
        return query(in_, "SELECT 1 FROM shop_processed WHERE source = ? AND id = ?")
            .with(source)
            .with(id)
            .next();
    }
    void mark_processed(std::string_view source, const uuid& id, wall_time at) override {
        query(in_, "INSERT INTO shop_processed VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
            .with(source)
            .with(id)
            .with(at)
            .run();
    }
    std::size_t forget(wall_time before) override {
        query(in_, "DELETE FROM shop_processed WHERE at < ?").with(before).next();
        return static_cast<std::size_t>(sqlite3_changes(in_.handle()));
    }

private:
    database& in_;
};

class dead_letters final : public posthorn::own_dead_letters {
public:
    explicit dead_letters(database& in) : in_(in) {}

    void add(const own_message& what, wall_time at) override {
        query(in_,
              "INSERT INTO shop_dead (id, type, payload, created_at, retries, error, at)"
              " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
            .with(what.id)
            .with(what.event_type)
            .with(what.payload)
            .with(what.created_at)
            .with(what.retry_count)
            .with(what.error)
            .with(at)
            .run();
    }
    std::vector<own_message> list(std::size_t limit) override {
        return query(in_,
                     "SELECT id, type, payload, created_at, retries, error FROM shop_dead"
                     " WHERE resolution IS NULL ORDER BY number LIMIT ?")
            .with(static_cast<std::int64_t>(limit))
            .messages();
    }
    bool requeue(const uuid& id) override {
        if (!query(in_, "DELETE FROM shop_dead WHERE id = ? AND resolution IS NULL").with(id).run())
            return false;
        query(in_,
              "UPDATE shop_events SET state = 'Pending', retries = 0, next_at = 0 WHERE id = ?")
            .with(id)
            .run();
        return true;
    }
    bool resolve(const uuid& id, std::string_view resolution) override {
        return query(in_, "UPDATE shop_dead SET resolution = ? WHERE id = ? AND resolution IS NULL")
            .with(resolution)
            .with(id)
            .run();
    }
    bool remove(const uuid& id) override {
        return query(in_, "DELETE FROM shop_dead WHERE id = ? AND resolution IS NULL")
            .with(id)
            .run();
    }

private:
    database& in_;
};

}  // namespace

database::database(const std::string& path) {
    if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK)
        throw std::runtime_error("cannot open " + path);
    run("CREATE TABLE IF NOT EXISTS shop_events (number INTEGER PRIMARY KEY, id TEXT UNIQUE,"
        " type TEXT, payload TEXT, created_at INTEGER, retries INTEGER, error TEXT,"
        " state TEXT DEFAULT 'Pending', next_at INTEGER DEFAULT 0, published_at INTEGER);"
        "CREATE TABLE IF NOT EXISTS shop_processed (source TEXT, id TEXT, at INTEGER,"
        " PRIMARY KEY (source, id));"
        "CREATE TABLE IF NOT EXISTS shop_dead (number INTEGER PRIMARY KEY, id TEXT UNIQUE,"
        " type TEXT, payload TEXT, created_at INTEGER, retries INTEGER, error TEXT, at INTEGER,"
        " resolution TEXT)");
}

database::~database() { sqlite3_close(handle_); }

void database::run(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        throw std::runtime_error(sqlite3_errmsg(handle_));
}

std::unique_ptr<posthorn::own_outbox> make_outbox(database& in) {
    return std::make_unique<outbox>(in);
}
std::unique_ptr<posthorn::own_inbox> make_inbox(database& in) {
    return std::make_unique<inbox>(in);
}
std::unique_ptr<posthorn::own_dead_letters> make_dead_letters(database& in) {
    return std::make_unique<dead_letters>(in);
}

}  // namespace shop
