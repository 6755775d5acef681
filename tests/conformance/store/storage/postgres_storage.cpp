#include "conformance/store/storage/postgres_storage.hpp"

#include <latch>

#include <gtest/gtest.h>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "store/postgres/commit/postgres_store.hpp"
#include "support/postgres/postgres_server.hpp"

namespace posthorn::conformance {
namespace {

const dialect postgres_dialect{
    .forbidden = {"BEGIN", "START TRANSACTION", "COMMIT", "END", "ROLLBACK", "ABORT",
                  "SAVEPOINT mine", "RELEASE mine", "RELEASE posthorn_unit",
                  "ROLLBACK TO posthorn_unit", "PREPARE TRANSACTION 'mine'",
                  "SET synchronous_commit = off", "SET LOCAL synchronous_commit = off",
                  "/* c */ -- d\n RESET ALL", "DISCARD ALL", "LISTEN elsewhere"},
    .group_breakers = {"SELECT pg_terminate_backend(pg_backend_pid())",
                       "DO $$ BEGIN ROLLBACK; END $$", "DO $$ BEGIN COMMIT; END $$"},
    .endless =
        "WITH RECURSIVE n(i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) "
        "SELECT count(*) FROM n",
    .deleting_trigger = {"CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                         "DELETE FROM outbox_messages WHERE seq = NEW.seq; RETURN NULL; END $$",
                         "CREATE TRIGGER forget AFTER UPDATE OF status ON outbox_messages "
                         "FOR EACH ROW WHEN (NEW.status = '{}') EXECUTE FUNCTION forget()"},
    .swallowing_trigger = {"CREATE OR REPLACE FUNCTION hush() RETURNS trigger LANGUAGE plpgsql AS "
                           "$$ BEGIN RETURN NULL; END $$",
                           "CREATE TRIGGER hush BEFORE {} ON outbox_messages FOR EACH ROW EXECUTE "
                           "FUNCTION hush()"},
    .on_outbox = " ON outbox_messages",
    .bytes = "'\\x{}'::bytea",
    .payload_of_bytes = "payload_bytes",
    .refuses_bytes_as_text = false,
    .refuses_fractions = false};

class postgres_connection final : public foreign_connection {
public:
    explicit postgres_connection(const std::string& url, durability how) : client_(url) {
        if (how == durability::none) run("SET synchronous_commit = off");
    }
    std::optional<std::string> run(std::string_view sql) override { return client_.run(sql); }
    std::vector<row> rows(std::string_view sql) override {
        try {
            return client_.rows(sql);
        } catch (const std::exception& refused) {
            ADD_FAILURE() << refused.what();
            return {};
        }
    }

private:
    test::postgres_client client_;
};

class on_a_server final : public storage {
public:
    result<std::unique_ptr<posthorn::store>> open(store_settings settings) override {
        return postgres::open({.url = place_.url(),
                               .schema = place_.schema(),
                               .service = "orders",
                               .defaults = settings.defaults,
                               .above = settings.above},
                              {.time = time_, .writer = writer_, .log = log_});
    }
    std::unique_ptr<foreign_connection> connect(durability how) override {
        return std::make_unique<postgres_connection>(place_.url(), how);
    }
    void wait_for_writer() override {
        std::latch done(1);
        writer_.post([&] { done.count_down(); });
        done.wait();
    }
    void pretend_newer() override {
        const auto refused = connect(durability::full)
                                 ->run("INSERT INTO posthorn_migrations VALUES ('store', 999, 0)");
        EXPECT_EQ(refused, std::nullopt);
    }
    [[nodiscard]] wall_time now() override { return time_.wall(); }
    [[nodiscard]] const dialect& speaks() const override { return postgres_dialect; }

private:
    test::postgres_place place_;
    real_clock time_;
    logger log_ = logger::null();
    worker_threads writer_{"writer"};
};

}  // namespace

std::unique_ptr<storage> postgres_on_a_server() { return std::make_unique<on_a_server>(); }

}  // namespace posthorn::conformance
