#include "store/postgres/driver/outside_server.hpp"

#include <mutex>
#include <utility>

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {
namespace {

class server_outside final : public outside_database {
public:
    server_outside(std::string url, const clock& time) : url_(std::move(url)), time_(time) {}

    result<> run(std::span<const outside_statement> all, const std::string& once_key) override {
        const std::scoped_lock lock(mutex_);
        if (!open_ || open_->is_lost()) {
            open_.reset();
            POSTHORN_LET(opened, connection::open({.url = url_}, time_));
            POSTHORN_TRY(opened->begin_pipeline());
            open_ = std::move(opened);
        }
        auto done = command("BEGIN");
        if (done) done = write(all, once_key);
        if (done) done = command("COMMIT");
        // Whatever it was in the middle of, a new session begins with nothing.
        if (!done) open_.reset();
        return done;
    }

private:
    result<> write(std::span<const outside_statement> all, const std::string& once_key) {
        if (!once_key.empty()) {
            POSTHORN_LET(is_first, note(once_key));
            if (!is_first) return {};
        }
        for (const auto& each : all) {
            values given;
            for (const auto& one : each.values) given.add(one);
            POSTHORN_TRY(open_->run_once(numbered(each.sql), std::move(given)));
        }
        return {};
    }

    result<bool> note(const std::string& key) {
        POSTHORN_LET(there,
                     open_->run_once("SELECT to_regclass('posthorn_forwarded') IS NOT NULL", {}));
        if (there.front().text(0) != "t")
            POSTHORN_TRY(
                command("CREATE TABLE IF NOT EXISTS posthorn_forwarded (id text PRIMARY KEY,"
                        " at timestamptz NOT NULL DEFAULT now())"));
        values given;
        given.add(std::string_view(key));
        POSTHORN_LET(noted, open_->run_once("INSERT INTO posthorn_forwarded (id) VALUES ($1)"
                                            " ON CONFLICT DO NOTHING RETURNING id",
                                            std::move(given)));
        return noted.size() > 0;
    }

    result<> command(std::string_view sql) {
        POSTHORN_TRY(open_->run_once(sql, {}));
        return {};
    }

    std::string url_;
    const clock& time_;
    std::mutex mutex_;
    std::unique_ptr<connection> open_;
};

}  // namespace

std::unique_ptr<outside_database> outside_server(std::string url, const clock& time) {
    return std::make_unique<server_outside>(std::move(url), time);
}

}  // namespace posthorn::postgres
