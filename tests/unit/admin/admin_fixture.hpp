#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/admin_api.hpp"
#include "admin/openapi.hpp"
#include "base/async/virtual_loop.hpp"
#include "base/random.hpp"
#include "base/uuid_generator.hpp"
#include "store/async.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/described_answer.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn {

/// The admin routes over a real database under virtual time.
class admin_fixture : public testing::Test {
protected:
    admin_fixture() {
        auto opened = sqlite::open(
            {.path = folder_.file("orders.db"), .service = "orders", .above = {audit_tables()}},
            {.time = loop.time(), .writer = inline_, .log = log});
        if (!opened) throw error(opened.error());
        database_ = *std::move(opened);
        node.emplace(node_view_deps{
            .service = "orders",
            .version = "9.8.7",
            .stores = {database_.get()},
            .readers = inline_,
            .time = loop.time(),
            .counters = {&counters},
            .broken = [this] { return broken; },
            .wake = [this] { ++wakes; },
            .try_now = [this](std::string_view destination) { tried.emplace_back(destination); },
            .bad_signatures = [] { return std::uint64_t{4}; },
            .refused = &refused});
        kept.emplace(*database_, loop.time(), log);
        gate.emplace(access, *kept);
        surface.emplace(routes, *gate);
        add_admin_routes(*surface, *node);
        add_public_routes(public_routes, *node);
        describe();
    }
    ~admin_fixture() override { database_->stop(); }

    class store& store() { return *database_; }
    /// After routes were added to the surface.
    void describe() { described = describe_routes(surface->all(), "9.8.7"); }

    http_response ask(const std::string& method, const std::string& target,
                      const std::string& key = {}) {
        return ask_with({}, method, target, key);
    }
    http_response ask_with(http_request request, const std::string& method,
                           const std::string& target, const std::string& key) {
        request.method = method;
        const auto parts = split_target(target);
        request.path = parts->path;
        request.query = parts->query;
        request.peer = "127.0.0.1";
        request.headers.add("Host", "127.0.0.1:7401");
        if (!key.empty()) request.headers.add("Authorization", "Bearer " + key);
        auto response = loop.run(routes.handle(std::move(request)));
        EXPECT_EQ(test::unlike_description(described, method, std::string(parts->path), response),
                  "");
        return response;
    }
    http_response get(const std::string& target) { return ask("GET", target, viewer.key); }
    boost::json::value get_json(const std::string& target) {
        const auto response = get(target);
        EXPECT_EQ(response.status, 200) << response.body;
        return boost::json::parse(response.body);
    }

    uuid enqueue(std::string destination = "billing", std::string payload = R"({"secret":"x"})",
                 std::string order_key = {}) {
        message body;
        body.id = ids.next();
        body.destination = std::move(destination);
        body.endpoint = "Charge";
        body.payload = std::move(payload);
        body.order_key = std::move(order_key);
        body.created_at = loop.time().wall();
        body.expires_at = body.created_at + std::chrono::hours{24};
        run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.outbox().insert(body));
            return {};
        });
        return body.id;
    }
    void change(std::string sql) {
        run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.execute(sql, {}));
            return {};
        });
    }
    uuid bury(std::string destination = "billing") {
        const auto id = enqueue(std::move(destination));
        change(
            "UPDATE outbox_messages SET status = 'Dead', last_error = 'no answer'"
            " WHERE message_id = '" +
            id.to_string() + "'");
        return id;
    }
    std::string text(const std::string& sql) {
        std::string found;
        EXPECT_TRUE(store().read([&](store_reader& from) {
            return from.query(sql, {}, [&](const sql_row& row) { found = row.text(0); });
        }));
        return found;
    }
    void run(unit::work_type work) {
        const auto done = loop.run(commit(*database_, std::move(work)));
        ASSERT_TRUE(done) << done.error().what();
    }
    /// What was looked at before is forgotten.
    void wait_a_second() { loop.run_for(std::chrono::seconds{1}); }

    virtual_loop loop;
    seeded_random random{3};
    uuid_generator ids{[this] { return loop.time().wall(); }, random};
    std::vector<std::string> lines;
    logger log{{.level = log_level::debug,
                .sink = [this](std::string_view line) { lines.emplace_back(line); }},
               [this] { return loop.time().wall(); }};
    new_admin_key viewer = make_admin_key(random);
    new_admin_key boss = make_admin_key(random);
    admin_access access{
        {.loopback = true,
         .keys = {
             {"wall", admin_role::viewer, *parse_key_hash(viewer.hash)},
             {"desk-3", admin_role::operator_, *parse_key_hash(boss.hash), {.payloads = true}}}}};
    outbox_counters counters;
    std::vector<std::string> broken;
    int wakes = 0;
    std::vector<std::string> tried;
    refused_calls refused;
    std::optional<node_view> node;
    std::optional<audit> kept;
    std::optional<key_gate> gate;
    std::optional<admin_surface> surface;
    boost::json::object described;  // What the routes say of themselves.
    router routes;
    router public_routes;

private:
    test::temporary_directory folder_;
    inline_executor inline_;  // Of the writer and the readers: nothing may block.
    std::unique_ptr<class store> database_;
};

}  // namespace posthorn
