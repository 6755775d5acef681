// What a server or its administrator may do to a node at work: it says why and what to do, and when
// the cause is gone everything is there, once.
#include <algorithm>
#include <atomic>
#include <future>
#include <tuple>

#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/postgres/postgres_server.hpp"

namespace posthorn::integration {
namespace {

using test::eventually;
using testing::HasSubstr;

/// A node whose role may do what it needs, and owns nothing.
class postgres_trouble : public node_test {
protected:
    void SetUp() override {
        inventory_ = std::make_unique<node>(options("inventory"));
        execute(*inventory_, "CREATE TABLE taken (id TEXT PRIMARY KEY)");
        inventory_->handle("Take", [](context& with, const message& got) {
            with.execute("INSERT INTO taken (id) VALUES (?)", got.id.to_string());
        });
        inventory_->start();
        {
            const node made{on(place_.url())};  // The tables.
        }
        admin("CREATE ROLE " + role_ + " LOGIN PASSWORD 'p'");
        admin("GRANT USAGE ON SCHEMA " + place_.schema() + " TO " + role_);
        admin("GRANT ALL ON ALL TABLES IN SCHEMA " + place_.schema() + " TO " + role_);
        admin("GRANT USAGE ON ALL SEQUENCES IN SCHEMA " + place_.schema() + " TO " + role_);
        auto url = place_.url();
        url.replace(url.find("posthorn:posthorn@"), 18, role_ + ":p@");
        orders_ = std::make_unique<node>(on(url));
        orders_->start();
        send();
        ASSERT_TRUE(eventually([&] { return taken() == 1; }));
    }
    void TearDown() override {
        orders_.reset();
        end_sessions();
        admin("DROP OWNED BY " + role_);
        admin("DROP ROLE " + role_);
    }
    [[nodiscard]] node_options on(const std::string& url) const {
        auto with = options("orders");
        with.store.database = url;
        with.store.schema = place_.schema();
        return with;
    }
    void admin(const std::string& sql) { ASSERT_EQ(admin_.run(sql), std::nullopt) << sql; }
    /// So that those that come have what was set meanwhile.
    void end_sessions() {
        admin("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '" +
              role_ + "'");
    }
    void send() {
        orders_->send("inventory", "Take", "{}");
        ++sent_;
    }
    [[nodiscard]] std::int64_t taken() {
        return integer(*inventory_, "SELECT count(*) FROM taken");
    }
    /// Sends that get through before count; the first one that fails may only find the connection
    /// gone.
    void expect_refusal(error_code code, const std::string& advice) {
        std::string why;
        EXPECT_TRUE(eventually([&] {
            try {
                send();
                return false;
            } catch (const error& thrown) {
                why = thrown.what();
                return thrown.code() == code && why.find(advice) != std::string::npos;
            }
        })) << why;
    }
    void expect_refused(error_code code, const std::string& advice) {
        expect_refusal(code, advice);
        // Others' messages wait in the table, if they get there.
        admin(
            "INSERT INTO " + place_.schema() +
            ".outbox_messages (destination, endpoint, payload) VALUES ('inventory', 'Take', '{}')");
        ++sent_;
    }
    /// While nothing can be written, health says so and why.
    void expect_red(const std::string& advice) {
        EXPECT_TRUE(eventually([&] {
            const auto seen = orders_->health();
            return seen.level == health_level::red && !seen.reasons.empty() &&
                   seen.reasons.front().find(advice) != std::string::npos;
        })) << advice;
    }
    void expect_green() {
        EXPECT_TRUE(eventually([&] { return orders_->health().level == health_level::green; }));
    }
    void expect_everything_once() {
        EXPECT_TRUE(eventually([&] {
            try {
                send();
                return true;
            } catch (const error&) {
                return false;
            }
        }));
        EXPECT_TRUE(eventually([&] { return taken() >= sent_; }));
        EXPECT_TRUE(eventually([&] {
            return admin_.rows("SELECT 1 FROM " + place_.schema() + ".outbox_pending").empty();
        }));
        EXPECT_EQ(taken(), sent_);
    }

    test::postgres_place place_;
    std::string role_ = "role_" + place_.schema();
    test::postgres_client admin_;
    std::unique_ptr<node> inventory_;
    std::unique_ptr<node> orders_;
    std::int64_t sent_ = 0;
};

TEST_F(postgres_trouble, too_many_connections) {
    admin("ALTER ROLE " + role_ + " CONNECTION LIMIT 0");
    end_sessions();
    expect_refused(error_code::store_unavailable, "CONNECTION LIMIT");
    admin("ALTER ROLE " + role_ + " CONNECTION LIMIT -1");
    expect_everything_once();
}

TEST_F(postgres_trouble, a_password_that_was_changed) {
    admin("ALTER ROLE " + role_ + " PASSWORD 'q'");
    end_sessions();
    expect_refused(error_code::invalid_configuration, "the password in store.url");
    admin("ALTER ROLE " + role_ + " PASSWORD 'p'");
    expect_everything_once();
}

TEST_F(postgres_trouble, a_role_that_may_not_log_in) {
    admin("ALTER ROLE " + role_ + " NOLOGIN");
    end_sessions();
    expect_refused(error_code::invalid_configuration, "ALTER ROLE");
    expect_red("ALTER ROLE");
    admin("ALTER ROLE " + role_ + " LOGIN");
    expect_everything_once();
    expect_green();
}

TEST_F(postgres_trouble, a_right_that_was_taken_away) {
    admin("REVOKE INSERT ON " + place_.schema() + ".outbox_messages FROM " + role_);
    const auto grant = "GRANT SELECT, INSERT, UPDATE, DELETE ON \"" + place_.schema() +
                       "\".outbox_messages TO " + role_;
    expect_refused(error_code::store_read_only, grant);
    admin("GRANT INSERT ON " + place_.schema() + ".outbox_messages TO " + role_);
    expect_everything_once();
}

TEST_F(postgres_trouble, a_server_that_is_read_only) {
    admin("ALTER ROLE " + role_ + " SET default_transaction_read_only = on");
    end_sessions();
    expect_refused(error_code::store_read_only, "target_session_attrs=read-write");
    expect_red("target_session_attrs=read-write");
    admin("ALTER ROLE " + role_ + " RESET default_transaction_read_only");
    end_sessions();
    expect_everything_once();
}

TEST_F(postgres_trouble, a_time_limit_for_statements) {
    admin("ALTER ROLE " + role_ + " SET statement_timeout = '100ms'");
    end_sessions();
    expect_everything_once();  // As long as nothing is in the way.
    {
        test::postgres_client holding(place_.url());
        holding.run("BEGIN");
        holding.run("LOCK TABLE outbox_messages IN SHARE MODE");
        expect_refusal(error_code::statement_interrupted,
                       "ALTER ROLE " + role_ + " SET statement_timeout = 0");
    }
    expect_everything_once();
}

TEST_F(postgres_trouble, a_table_that_another_program_has_locked) {
    expect_green();
    test::postgres_client holding(place_.url());
    holding.run("BEGIN");
    holding.run("LOCK TABLE outbox_messages IN SHARE MODE");
    std::atomic<bool> seen = false;
    auto sending = std::async(std::launch::async, [&] {
        while (!seen) std::ignore = code_of([&] { orders_->send("inventory", "Take", "{}"); });
    });
    EXPECT_TRUE(eventually([&] {
        const auto reasons = orders_->health().reasons;
        return std::ranges::any_of(
            reasons, [](const auto& why) { return why.contains("a write has waited for"); });
    }));
    seen = true;
    holding.run("ROLLBACK");
    sending.get();
    expect_green();
}

TEST_F(postgres_trouble, tables_of_a_newer_version) {
    admin("INSERT INTO " + place_.schema() + ".posthorn_migrations VALUES ('store', 99, 0)");
    EXPECT_EQ(code_of([&] { const node newer{on(place_.url())}; }), error_code::store_too_new);
    expect_everything_once();  // Whoever runs already goes on.
}

}  // namespace
}  // namespace posthorn::integration
