// A server that goes, comes back, or is another one than it seems, on one of this process alone.
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"
#include "postgres/node.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/raw_http.hpp"

namespace posthorn::integration {
namespace {

using test::eventually;
using testing::HasSubstr;

/// All processes of the server, which do nothing as long as this lives.
class frozen_server {
public:
    frozen_server() {
        for (const auto& row : test::postgres_client().rows(
                 "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()"))
            processes_.push_back(std::stoi(row.at(0).value_or("0")));
        const auto first = parent_of(processes_.at(0));
        if (first <= 1) throw std::runtime_error("whose child is the server's session?");
        processes_.insert(processes_.begin(), first);
        signal_all(SIGSTOP);
    }
    ~frozen_server() { signal_all(SIGCONT); }
    frozen_server(const frozen_server&) = delete;
    frozen_server& operator=(const frozen_server&) = delete;

private:
    static pid_t parent_of(pid_t child) {
        std::ifstream facts("/proc/" + std::to_string(child) + "/status");
        std::string word;
        while (facts >> word && word != "PPid:") {
        }
        pid_t parent = 0;
        facts >> parent;
        return parent;
    }
    void signal_all(int number) const {
        for (const auto one : processes_) ::kill(one, number);
    }

    std::vector<pid_t> processes_;
};

class postgres_server : public node_test {
protected:
    [[nodiscard]] node_options orders_on(const std::string& url) const {
        auto with = options("orders");
        with.store.database = url;
        with.store.schema = place_.schema();
        with.parts = node_parts::outbox;
        return with;
    }
    /// Why no node starts on it.
    [[nodiscard]] std::optional<error> refused(const std::string& url) const {
        try {
            const node made{orders_on(url)};
        } catch (const error& why) {
            return why;
        }
        return std::nullopt;
    }

    test::postgres_place place_;
};

TEST_F(postgres_server, that_is_gone_for_a_while_loses_nothing_and_doubles_nothing) {
    node inventory{options("inventory")};
    execute(inventory, "CREATE TABLE taken (id TEXT PRIMARY KEY)");
    inventory.handle("Take", [](context& with, const message& got) {
        with.execute("INSERT INTO taken (id) VALUES (?)", got.id.to_string());
    });
    inventory.start();
    node orders{orders_on(place_.url())};
    orders.start();
    std::int64_t sent = 0;
    for (; sent < 20; ++sent) orders.send("inventory", "Take", "{}");
    test::halt_postgres();
    EXPECT_EQ(code_of([&] { orders.send("inventory", "Take", "{}"); }),
              error_code::store_unavailable);
    EXPECT_EQ(refused(place_.url()).value().code(), error_code::store_unavailable);
    test::start_postgres_again();
    EXPECT_TRUE(eventually([&] {
        return !code_of([&] { orders.send("inventory", "Take", "{}"); }).has_value();
    })) << "it comes back by itself";
    const auto taken = [&] { return integer(inventory, "SELECT count(*) FROM taken"); };
    EXPECT_TRUE(eventually([&] { return taken() == sent + 1; }));
    test::postgres_client seen(place_.url());
    EXPECT_TRUE(eventually([&] { return seen.rows("SELECT 1 FROM outbox_pending").empty(); }));
    EXPECT_EQ(taken(), sent + 1);
}

TEST_F(postgres_server, that_is_frozen_does_not_keep_a_node_from_ending_at_the_second_signal) {
    const test::temporary_directory folder;
    std::ofstream(folder.file("orders.toml"))
        << "[service]\nid = \"orders\"\n[store]\nurl = \"" << test::postgres_url()
        << "\"\nschema = \"" << place_.schema()
        << "\"\n[listen]\nhttp = \"127.0.0.1:0\"\nadmin = \"\"\n";
    test::process serve({POSTHORN_PROGRAM, "serve", "--config", folder.file("orders.toml")});
    const auto place = serve.read_line().value_or("");
    test::raw_http idle(test::port_in(place));
    idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_EQ(idle.receive().status, 404);
    const frozen_server frozen;
    serve.send_signal(SIGTERM);
    EXPECT_TRUE(idle.is_closed_by_peer());  // It has seen the first; two at once would be one.
    serve.send_signal(SIGTERM);
    EXPECT_EQ(serve.wait(), (test::process_end{.exit_code = 1}));
    EXPECT_THAT(serve.out() + serve.err(), HasSubstr("the database does not answer"));
}

TEST_F(postgres_server, that_is_a_standby_is_refused_and_its_primary_found) {
    {
        const node made{orders_on(place_.url())};
    }
    const test::postgres_beside standby({"standby"});
    const auto why = refused(standby.url());
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), error_code::store_read_only) << why->what();
    EXPECT_THAT(why->what(), HasSubstr("target_session_attrs=read-write"));
    // Both, in one URL.
    auto both = standby.url();
    const auto& primary = test::postgres_url();
    const auto host = [](const std::string& url) {
        const auto from = url.find('@') + 1;
        return url.substr(from, url.find('/', from) - from);
    };
    both.insert(both.find('@') + 1 + host(both).size(), "," + host(primary));
    node found{orders_on(both + "?target_session_attrs=read-write")};
    EXPECT_NO_THROW(found.send("inventory", "Take", "{}"));
}

TEST_F(postgres_server, behind_a_pooler_of_sessions_is_as_good) {
    const test::postgres_beside pooler({"pooler", "session"});
    node inventory{options("inventory")};
    std::atomic<int> handled = 0;
    inventory.handle("Take", [&](context&, const message&) { ++handled; });
    inventory.start();
    node orders{orders_on(pooler.url())};
    orders.start();
    orders.send("inventory", "Take", "{}");
    EXPECT_TRUE(eventually([&] { return handled == 1; }));
}

TEST_F(postgres_server, behind_a_pooler_of_transactions_is_refused_with_the_reason) {
    const test::postgres_beside pooler({"pooler", "transaction"});
    const auto why = refused(pooler.url());
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), error_code::invalid_configuration);
    EXPECT_THAT(why->what(), HasSubstr("use pool_mode = session"));
}

}  // namespace
}  // namespace posthorn::integration
