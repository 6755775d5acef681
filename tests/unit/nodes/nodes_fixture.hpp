#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "nodes/node_watcher.hpp"
#include "nodes/nodes_routes.hpp"
#include "nodes/nodes_table.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"

namespace posthorn {

/// Two other nodes, `stock` and `crm`, under virtual time; a test says what they answer.
class nodes_fixture : public testing::Test {
protected:
    struct question {
        std::string url;
        std::string key;
        http_call_limits limits;
    };

    nodes_fixture() {
        auto opened = sqlite::open(
            {.path = folder_.file("orders.db"), .service = "orders", .above = {nodes_tables()}},
            {.time = loop.time(), .writer = inline_, .log = log});
        if (!opened) throw error(opened.error());
        database_ = *std::move(opened);
        with.emplace(nodes_deps{.env = env, .where = *database_, .asker = asker});
        for (const auto* const each : {"http://stock:1", "http://crm:2"}) answers[each] = green;
    }
    ~nodes_fixture() override {
        stop();
        database_->stop();
    }

    void start() {
        watcher_.emplace(env, *database_, asker);
        running_.emplace(loop.executor());
        running_->spawn(watcher_->run());
        loop.settle();
    }
    /// The node has begun to stop, and has not cancelled it yet.
    void announce_stop() { watcher_->stop(); }
    void stop() {
        if (!running_) return;
        running_->cancel();
        loop.run(running_->join());
        running_.reset();
    }

    static http_response told(std::string colour, std::string reasons = "[]") {
        return {.status = 200,
                .headers = {},
                .body = R"({"status":")" + colour + R"(","working":true,"reasons":)" + reasons +
                        R"(,"service":"s","version":"1"})"};
    }

    boost::json::object ask(const admin_route& route, http_request request = {}) {
        const auto answer = loop.run(route.answer(std::move(request), {}));
        last_status = answer.status;
        return boost::json::parse(answer.body).as_object();
    }
    boost::json::object look(std::string_view name) {
        for (const auto& each : ask(nodes_route(*with)).at("nodes").as_array())
            if (each.at("name").as_string() == name) return each.as_object();
        return {};
    }
    boost::json::object ask(std::string_view path, http_request request) {
        for (const auto& each : node_routes(*with))
            if (each.path == path) return ask(each, std::move(request));
        return {};
    }
    std::int64_t rows() {
        std::int64_t found = -1;
        EXPECT_TRUE(database_->read([&](store_reader& from) {
            return from.query("SELECT count(*) FROM posthorn_nodes", {},
                              [&](const sql_row& row) { found = row.integer(0); });
        }));
        return found;
    }

    task<result<http_response>> answer(std::string url, http_request request,
                                       http_call_limits limits) {
        const auto key = request.headers.find("Authorization");
        asked.push_back({url, std::string(key.value_or("")), limits});
        EXPECT_EQ(request.method, "GET");
        co_return answers.at(url.substr(0, url.find("/_rf")));
    }

    const http_response green = told("green");
    virtual_loop loop;
    logger log{{.level = log_level::error}, [this] { return loop.time().wall(); }};
    test::test_environment env{loop, log};
    std::map<std::string, result<http_response>> answers;  // By origin.
    std::vector<question> asked;
    node_watch watch{
        .nodes = {{"stock", "http://stock:1", "phk_of_stock"}, {"crm", "http://crm:2", ""}}};
    node_asker asker{watch,
                     [this](std::string url, const http_request& request, http_call_limits limits) {
                         return answer(url, request, limits);
                     }};
    std::optional<nodes_deps> with;
    int last_status = 0;

private:
    test::temporary_directory folder_;
    inline_executor inline_;
    std::unique_ptr<store> database_;
    std::optional<node_watcher> watcher_;
    std::optional<task_group> running_;
};

}  // namespace posthorn
