#pragma once

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/raw_http.hpp"
#include "support/row_fuzz.hpp"
#include "support/temporary_directory.hpp"
#include "support/webhook_endpoint.hpp"

namespace posthorn::test {

/// The real program with all features at work: it publishes to subscribers, is a site and its own
/// centre, watches a node and writes its history; and an outsider who writes rows into the tables of
/// them with plain SQL. The store is said by who derives.
class odd_features : public testing::Test {
protected:
    /// What the database said against it; empty if it did as told.
    virtual std::optional<std::string> outside(const std::string& sql) = 0;
    [[nodiscard]] virtual std::int64_t number(const std::string& sql) = 0;
    /// `table|column|is a number|is a key`, a line each; without the tables of the store itself.
    virtual std::vector<std::string> describe() = 0;
    /// A text of so many, as SQL.
    virtual std::string megabytes(int number) = 0;
    virtual std::string program() = 0;
    /// `[store]` of the configuration.
    virtual std::string store() = 0;

    /// Whether a table is of a feature. Those of the store and of workflows have tests of their own,
    /// and a row of forward_caps is a cap.
    static std::string is_of_features(const std::string& name) {
        std::string sql =
            "lower(" + name +
            ") IN ('operationtracking', 'sitecalls',"
            " 'posthorn_history', 'posthorn_nodes', 'posthorn_audit', 'posthorn_queue',"
            " 'posthorn_consume_dead')";
        for (const auto* const prefix : {"webhook", "forward", "centre"})
            sql += " OR " + name + " LIKE '" + prefix + "%'";
        return name + " <> 'forward_caps' AND (" + sql + ")";
    }
    void expect_all_live(row_fuzz& rows) {
        const char* const asked = std::getenv("POSTHORN_ODD_ROWS");
        start();
        subscribe();
        expect_health_beside();
        const int of_each = asked == nullptr ? 3 : std::atoi(asked);
        write_rows(rows, of_each);
        expect_health_beside();
        update_rows(rows, of_each);
        expect_health_beside();
        expect_answers();
        stop();
        start();  // With them, too.
        expect_health_beside();
        stop();
    }

    /// Subscriptions of which one text has many megabytes each: they are named, are not fetched, and
    /// those beside them are told.
    void expect_large_subscriptions_named() {
        start();
        subscribe();
        expect_told_of_event(1);
        const auto before = memory_peak_kb();
        int made = 0, number = 0;
        std::string first;
        for (const std::string column : {"tenant", "event_type", "url", "secret", "previous_secret",
                                         "reason", "headers", "filter", "description"}) {
            std::string names = "id",
                        values = fmt::format("'018f3b1c-0000-7000-8001-{:012x}'", ++number);
            for (const auto& [name, value] :
                 {std::pair<std::string, std::string>{"url", "'https://a.example/'"},
                  {"secret", "'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'"}})
                if (name != column) {
                    names += ", " + name;
                    values += ", " + value;
                }
            const auto refused =
                outside(fmt::format("INSERT INTO webhook_subscriptions ({}, {}) VALUES ({}, {})",
                                    names, column, values, megabytes(8)));
            if (!refused) {
                if (first.empty()) first = column;
                ++made;
                continue;
            }
            // A server has bounds of its own for what stands in an index.
            EXPECT_NE(refused->find("index row"), std::string::npos) << column << ": " << *refused;
        }
        ASSERT_GT(made, 5);
        expect_told_of_event(2);
        EXPECT_TRUE(eventually([&] {
            return health().contains(
                fmt::format("{} webhooks cannot be sent to: its {} in webhook_subscriptions is "
                            "too large to be read",
                            made, first));
        })) << health();
        const auto listed = get("/_rf/webhooks");
        EXPECT_EQ(listed.status, 200);
        EXPECT_LT(listed.body.size(), 100'000U);
        EXPECT_LT(memory_peak_kb() - before, 50'000) << "of 72 MB";
        stop();
    }
    /// What is left out of the tables of features, too large or of a shape that no node writes, is
    /// named by the doctor, each kind with what to do; without it, there is nothing to name.
    void expect_left_out_rows_named() {
        start();
        subscribe();
        expect_health_beside();
        stop();
        EXPECT_EQ(left_out(), std::vector<std::string>{}) << "of what a node wrote itself";
        ASSERT_EQ(outside("INSERT INTO webhook_subscriptions (id, url, secret, state) VALUES"
                          " ('018f3b1c-0000-7000-8000-00000000000a', 'https://a.example/', 'x',"
                          " 'disabled')"),
                  std::nullopt);
        const auto tables = read_tables(describe());
        int kinds = 0;
        for (const auto& one : std::initializer_list<left_out_row>{
                 {"posthorn_nodes", "reasons", text_of(200'001)},
                 {"posthorn_history", "took", text_of(4'097)},
                 {"posthorn_consume_dead", "seq", "-7"},
                 {"SiteCalls", "TrackedOperationId", "'x'"},
                 {"SiteCalls", "Seq", "-7"},
                 {"centre_notifications", "Seq", "0"},
                 {"centre_sites", "SiteId", text_of(501)},
                 {"forward_messages", "status", "7"},
                 {"forward_messages", "id", "'x'"},
                 {"forward_messages", "seq", "-7"},
                 {"OperationTracking", "TrackedOperationId", "'x'"},
                 {"webhook_event_types", "schema", text_of(65'537)},
                 {"webhook_subscriptions", "id", "'018F3B1C-0000-7000-8000-00000000000A'"}}) {
            SCOPED_TRACE(fmt::format("{}.{}", one.table, one.column));
            // As its database writes the name.
            const auto found = std::ranges::find_if(
                tables, [&](const auto& each) { return is_same(each.first, one.table); });
            ASSERT_NE(found, tables.end());
            EXPECT_EQ(outside(insert_with(found->second, one)), std::nullopt);
            const auto named = left_out();
            EXPECT_EQ(std::ssize(named), ++kinds) << fmt::format("{}", fmt::join(named, "\n"));
            EXPECT_EQ(std::ranges::count_if(
                          named, [&](const auto& each) { return is_same(each, one.table); }),
                      1 + std::ranges::count(seen_, one.table));
            seen_.push_back(one.table);
        }
        start();  // With all of them.
        expect_health_beside();
        stop();
    }
    void expect_told_of_event(int number) {
        const auto id = fmt::format("018f3b1c-0000-7000-9000-{:012x}", number);
        ASSERT_EQ(outside(fmt::format("INSERT INTO outbox_messages (message_id, destination,"
                                      " endpoint, payload) VALUES ('{}', 'webhooks', 'order.paid',"
                                      " '{{}}')",
                                      id)),
                  std::nullopt);
        EXPECT_TRUE(eventually([&] { return hook_.seen().contains(id); })) << child_->err();
    }
    [[nodiscard]] std::int64_t memory_peak_kb() const {
        std::ifstream status(fmt::format("/proc/{}/status", child_->id()));
        for (std::string word; status >> word;)
            if (word == "VmHWM:") {
                std::int64_t number = 0;
                status >> number;
                return number;
            }
        return 0;
    }

    void start() {
        const auto file = folder_.file("shop.toml");
        std::ofstream(file) << fmt::format(
            "[service]\nid = \"shop\"\n{}[listen]\nhttp = \"\"\nadmin = \"127.0.0.1:0\"\n"
            "[log]\nlevel = \"info\"\n[routes]\nshop = \"inprocess:\"\n"
            "[desk]\nnodes_every = \"100ms\"\n"
            "nodes = [{{ name = \"other\", url = \"http://127.0.0.1:1\" }}]\n"
            "[webhooks]\nplain_http = true\nallow = \"127.0.0.1\"\nretry_pauses = \"5ms\"\n"
            "[forward]\nsite = \"plant\"\ncentral = \"shop\"\n"
            "categories = [{{ name = \"ExternalSystem\", to = \"{}\" }}]\n"
            "[centre]\nenabled = true\n[handlers]\nJob = \"queue\"\n"
            "[admin]\nkeys = [{{ name = \"ann\", role = \"operator\", hash = \"sha256:{}\" }},"
            " {{ name = \"bob\", role = \"worker\", hash = \"sha256:{}\" }}]\n",
            store(), erp_.url(), operator_hash, worker_hash);
        child_.emplace(std::vector<std::string>{program(), "serve", "--config", file});
        port_ = port_in(child_->read_line().value_or(""));
        ASSERT_NE(port_, 0) << child_->err();
    }
    void stop() {
        child_->send_signal(SIGTERM);
        EXPECT_EQ(child_->wait(), (process_end{0, 0})) << child_->err();
    }
    void subscribe() {
        ASSERT_EQ(outside(fmt::format("INSERT INTO webhook_subscriptions (id, url, secret) VALUES"
                                      " ('{}', '{}', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')",
                                      healthy_id, hook_.url())),
                  std::nullopt);
    }
    /// Of every feature something that is well, which has its effect.
    void expect_health_beside() {
        ++rounds_;
        const auto id = [this](int of) {
            return fmt::format("018f3b1c-0000-7000-9000-{:06x}{:06x}", of, rounds_);
        };
        ASSERT_EQ(outside(fmt::format("INSERT INTO outbox_messages (message_id, destination,"
                                      " endpoint, payload) VALUES ('{}', 'webhooks', 'order.paid',"
                                      " '{{}}')",
                                      id(1))),
                  std::nullopt);
        for (const auto& [category, of] : {std::pair{0, 2}, std::pair{1, 3}})
            ASSERT_EQ(outside(fmt::format("INSERT INTO sf_messages (id, category, target,"
                                          " payload_json) VALUES ('{}', {}, 'erp', '{{}}')",
                                          id(of), category)),
                      std::nullopt);
        EXPECT_TRUE(eventually([&] { return hook_.seen().contains(id(1)); }));
        const auto comes = [&](const std::string& sql) {
            EXPECT_TRUE(eventually([&] { return number(sql) == 1; })) << sql << "\n"
                                                                      << health() << "\n"
                                                                      << child_->err();
        };
        comes(
            fmt::format("SELECT count(*) FROM OperationTracking WHERE Status = 'Delivered' AND"
                        " TrackedOperationId = '{}'",
                        id(2)));
        comes(
            fmt::format("SELECT count(*) FROM SiteCalls WHERE Status = 'Delivered' AND"
                        " TrackedOperationId = '{}'",
                        id(2)));
        comes(fmt::format("SELECT count(*) FROM centre_notifications WHERE NotificationId = '{}'",
                          id(3)));
        comes(
            fmt::format("SELECT count(*) FROM webhook_attempts WHERE message_id = '{}' AND"
                        " subscription_id = '{}'",
                        id(1), healthy_id));
        expect_job_done(id(4));
        expect_change_recorded();
        const auto asked = [&] {
            return number(
                "SELECT max(asked_at) FROM posthorn_nodes WHERE node = 'other' AND"
                " reasons LIKE '%does not answer%' AND asked_at < 2000000000000");
        };
        const auto before = asked();
        EXPECT_TRUE(eventually([&] { return asked() > before; })) << child_->err();
    }
    /// A job comes to its queue, and a worker gets it, whatever else is there.
    void expect_job_done(const std::string& id) {
        ASSERT_EQ(outside(fmt::format("INSERT INTO outbox_messages (message_id, destination,"
                                      " endpoint, payload) VALUES ('{}', 'shop', 'Job', '{{}}')",
                                      id)),
                  std::nullopt);
        const auto is_done = [&] {
            const auto taken =
                post("/_rf/queue/Job/take", R"({"owner":"bob","limit":100})", worker_key);
            EXPECT_EQ(taken.status, 200) << taken.body;
            std::vector<std::int64_t> seqs;
            boost::system::error_code wrong;
            const auto answer = boost::json::parse(taken.body, wrong);
            EXPECT_FALSE(wrong) << taken.body.substr(0, 2'000);
            if (wrong) return false;
            for (const auto& each : answer.at("messages").as_array())
                seqs.push_back(each.at("seq").to_number<std::int64_t>());
            if (seqs.empty()) return false;
            const auto ended = post(
                "/_rf/queue/ack",
                fmt::format(R"({{"owner":"bob","seqs":[{}]}})", fmt::join(seqs, ",")), worker_key);
            EXPECT_LT(ended.status, 500) << ended.body;
            return taken.body.contains(id);
        };
        EXPECT_TRUE(eventually(is_done)) << health() << "\n" << child_->err();
    }
    /// What an operator does is written down.
    void expect_change_recorded() {
        const auto name = fmt::format("nowhere-{}", rounds_);
        // Though on a server a row may have the number that is next.
        EXPECT_EQ(post("/_rf/outbox/lanes/" + name + "/pause", "", operator_key).status, 200);
        EXPECT_TRUE(eventually([&] {
            return number("SELECT count(*) FROM posthorn_audit WHERE target LIKE '%/" + name +
                          "/%'") > 0;
        })) << get("/_rf/audit").body.substr(0, 2'000);
    }
    /// Rows of a seed in every table, with each column odd in turn, and with several.
    void write_rows(row_fuzz& rows, int of_each) {
        const auto tables = read_tables(describe());
        EXPECT_GT(tables.size(), 15U);
        for (const auto& [name, table] : tables) {
            int accepted = 0;
            const auto write = [&](std::optional<std::size_t> odd) {
                accepted += outside(rows.row_like_others(table, odd)) ? 0 : 1;
            };
            for (int i = 0; i < of_each; ++i) {
                for (std::size_t at = 0; at < table.columns.size(); ++at) write(at);
                write({});
                write({});
            }
            EXPECT_GT(accepted, of_each) << name;
        }
    }
    /// Of rows that are there, whatever wrote them, each column made odd in turn, and several.
    void update_rows(row_fuzz& rows, int of_each) {
        for (const auto& [name, table] : read_tables(describe())) {
            const auto only = is_free(name);
            int accepted = 0;
            const auto update = [&](std::optional<std::size_t> odd) {
                accepted += outside(rows.update(table, only, odd)) ? 0 : 1;
            };
            for (int i = 0; i < of_each; ++i) {
                for (std::size_t at = 0; at < table.columns.size(); ++at) update(at);
                update({});
                update({});
            }
            EXPECT_GT(accepted, of_each) << name;
        }
    }
    /// What is configured stays: without it nothing would be to be sent.
    static std::string is_free(const std::string& table) {
        if (table == "webhook_subscriptions") return fmt::format("id <> '{}'", healthy_id);
        if (table == "forward_categories") return "number > 1000000";
        // Whose site it is: another's reports are refused.
        if (is_same(table, "centre_sites")) return "SiteId <> 'plant'";
        return "1 = 1";
    }
    /// All that an operator can look at is shown, whatever is in the tables.
    void expect_answers() {
        const auto shown = get("/_rf/openapi.json");
        ASSERT_EQ(shown.status, 200);
        int routes = 0;
        for (const auto& [path, methods] : boost::json::parse(shown.body).at("paths").as_object()) {
            if (!methods.as_object().contains("get") || path.contains('{')) continue;
            if (path.contains("live")) continue;  // It does not end.
            const auto answer = get(path);
            EXPECT_LT(answer.status, 500) << path << ": " << answer.body;
            boost::system::error_code wrong;
            if (answer.head.contains("application/json")) {
                static_cast<void>(boost::json::parse(answer.body, wrong));
                EXPECT_FALSE(wrong)
                    << path << ": " << wrong.message() << " " << answer.body.substr(0, 2'000);
            }
            ++routes;
        }
        EXPECT_GT(routes, 30);
    }
    [[nodiscard]] raw_response get(std::string_view path) const {
        return ask(port_, fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
                                      "Authorization: Bearer {}\r\nConnection: close\r\n\r\n",
                                      path, port_, operator_key));
    }
    [[nodiscard]] raw_response post(std::string_view path, std::string_view body,
                                    std::string_view key) const {
        return ask(port_, fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
                                      "Content-Type: application/json\r\nContent-Length: {}\r\n"
                                      "Authorization: Bearer {}\r\nConnection: close\r\n\r\n{}",
                                      path, port_, body.size(), key, body));
    }
    [[nodiscard]] std::string health() const { return get("/_rf/health").body; }
    [[nodiscard]] process& child() { return *child_; }

    struct left_out_row {
        std::string table, column, value;
    };
    static bool is_same(std::string_view one, std::string_view other) {
        return std::ranges::equal(one, other, {}, ::tolower, ::tolower);
    }
    static std::string text_of(std::size_t size) {
        return fmt::format("'{}'", std::string(size, 'x'));
    }
    /// A row of values that any table takes, but for one.
    virtual std::string insert_with(const described_table& table, const left_out_row& odd) {
        std::vector<std::string> names, values;
        for (const auto& each : table.columns) {
            const bool is_it = is_same(each.name, odd.column);
            names.push_back(each.name);
            if (is_it)
                values.push_back(odd.value);
            else if (is_same(each.name, "state"))
                values.emplace_back("'active'");
            else if (is_same(each.name, "style"))
                values.emplace_back("'standard'");
            else if (is_same(each.name, "form"))
                values.emplace_back("'envelope'");
            else if (each.is_number)
                values.push_back(each.is_key ? fmt::format("{}", 2'000'000 + ++made_) : "0");
            else
                values.push_back(fmt::format("'018f3b1c-0000-7000-c000-{:012x}'", ++made_));
        }
        return fmt::format("INSERT INTO {} ({}) {} VALUES ({})", table.name, fmt::join(names, ", "),
                           by_hand(), fmt::join(values, ", "));
    }
    virtual std::string by_hand() { return ""; }
    /// The tables of which `posthorn doctor` says that rows are left out.
    std::vector<std::string> left_out() {
        const auto done =
            run_process({program(), "doctor", "--json", "--config", folder_.file("shop.toml")});
        std::vector<std::string> tables;
        boost::system::error_code wrong;
        const auto said = boost::json::parse(done.out, wrong);
        EXPECT_FALSE(wrong) << done.out << done.err;
        if (wrong) return tables;
        for (const auto& each : said.at("findings").as_array()) {
            if (each.at("check") != "rows" || each.at("level") == "ok") continue;
            const std::string what(each.at("what").as_string());
            EXPECT_FALSE(each.at("why").as_string().empty());
            EXPECT_FALSE(each.at("todo").as_string().empty());
            // `3 rows of TABLE are left out`
            const auto begin = what.find(" of ") + 4;
            tables.push_back(what.substr(begin, what.find(' ', begin) - begin));
        }
        return tables;
    }

    static constexpr std::string_view operator_key = "phk_odd-operator";
    static constexpr std::string_view operator_hash =
        "fb050cd933129f41b7ccaca2bbaf50171c34ab8f5b590be2230d3d3ff5578435";
    static constexpr std::string_view worker_key = "phk_odd-worker";
    static constexpr std::string_view worker_hash =
        "b5aeebc854b6d4fcfe042cdabc3790af7e83185e5b61b7b004c77ca3a4ddf5c3";
    static constexpr auto healthy_id = "018f3b1c-0000-7000-8000-000000000001";
    temporary_directory folder_;

private:
    webhook_endpoint hook_, erp_;
    std::optional<process> child_;
    std::uint16_t port_ = 0;
    int rounds_ = 0;
    int made_ = 0;
    std::vector<std::string> seen_;
};

}  // namespace posthorn::test
