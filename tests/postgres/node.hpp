#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "base/uuid_generator.hpp"
#include "conformance/store/suite.hpp"
#include "store/claim_table.hpp"
#include "store/postgres/commit/postgres_store.hpp"
#include "support/postgres/postgres_server.hpp"

namespace posthorn::conformance {

/// The real one, which can be told that more time has passed.
class hurried_clock final : public clock {
public:
    [[nodiscard]] wall_time wall() const override { return real_.wall(); }
    [[nodiscard]] steady_time steady() const override { return real_.steady() + passed_.load(); }
    void pass(std::chrono::seconds time) { passed_ = passed_.load() + time; }

private:
    real_clock real_;
    std::atomic<std::chrono::nanoseconds> passed_{};
};

/// One node's store, on a schema that others may share.
class a_store {
public:
    explicit a_store(const test::postgres_place& place, const std::string& service = "orders",
                     std::vector<table_set> more = {}, const std::string& url = {},
                     std::size_t transactions = 8) {
        auto opened = postgres::open({.url = url.empty() ? place.url() : url,
                                      .schema = place.schema(),
                                      .service = service,
                                      .transactions = transactions,
                                      .above = std::move(more)},
                                     {time_, writer_, log_});
        if (!opened) throw error(opened.error());
        store_ = *std::move(opened);
    }
    ~a_store() { store_->stop(); }
    a_store(const a_store&) = delete;
    a_store& operator=(const a_store&) = delete;

    result<> run(unit::work_type work) { return submit(std::move(work), false).get(); }
    /// As a transaction of an application's own.
    std::future<result<>> run_own(unit::work_type work) { return submit(std::move(work), true); }
    result<> put(const message& body) { return run(enqueue(body)); }
    posthorn::store& get() { return *store_; }
    claim_table& claims_in(store_transaction& tx) { return store_->sharing()->claims_in(tx); }
    void pass(std::chrono::seconds time) { time_.pass(time); }

private:
    std::future<result<>> submit(unit::work_type work, bool alone) {
        auto answer = std::make_shared<std::promise<result<>>>();
        store_->submit({.work = std::move(work),
                        .done = [answer](result<> value) { answer->set_value(std::move(value)); },
                        .alone = alone});
        return answer->get_future();
    }

    hurried_clock time_;
    logger log_ = logger::null();
    worker_threads writer_{"writer"};
    std::unique_ptr<posthorn::store> store_;
};

/// A schema of its own for a test, messages for it, and what an outsider sees there.
class on_postgres : public ::testing::Test {
protected:
    message sample(const std::string& key = {}) {
        message body;
        body.id = ids_.next();
        body.source = "orders";
        body.destination = "billing";
        body.endpoint = "Charge";
        body.payload = "{}";
        body.order_key = key;
        body.created_at = noon;
        body.expires_at = noon + std::chrono::hours(24);
        return body;
    }
    /// A message of an order key, in a store that dispatches under epoch 1 from now on.
    std::int64_t put_first_of(const std::string& key, a_store& node) {
        std::int64_t seq = 0;
        EXPECT_TRUE(succeeded(node.run([&](store_transaction& tx) -> result<> {
            auto stored = tx.outbox().insert(sample(key));
            if (!stored) return std::unexpected(stored.error());
            seq = stored->seq;
            POSTHORN_TRY(tx.leases().take("dispatcher", "this test", std::nullopt));
            return {};
        })));
        return seq;
    }
    static void settle_first(std::int64_t seq, a_store& node) {
        EXPECT_TRUE(succeeded(node.run([&](store_transaction& tx) -> result<> {
            const settlement sent{.seq = seq, .at = noon, .followers_wait = true};
            POSTHORN_TRY(tx.outbox().settle({&sent, 1}, 1));
            return {};
        })));
    }
    /// Under epoch 1, from now on.
    static void dispatch_from(a_store& node) {
        ASSERT_TRUE(succeeded(node.run([](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.leases().take("dispatcher", "this test", std::nullopt));
            return {};
        })));
    }
    /// What is due to billing, as who dispatches under epoch 1 gets it.
    static std::vector<std::int64_t> claim(a_store& node) {
        std::vector<std::int64_t> seqs;
        EXPECT_TRUE(succeeded(node.run([&](store_transaction& tx) -> result<> {
            auto page = node.claims_in(tx).claim(
                {.destination = "billing", .now = noon, .limit = 100, .held = {}}, 1);
            if (!page) return std::unexpected(page.error());
            seqs.clear();
            for (const auto& row : page->rows) seqs.push_back(row.seq);
            return {};
        })));
        return seqs;
    }
    /// What plain SQL has stored, as the next sweep would.
    static void take_in(a_store& node) {
        EXPECT_TRUE(succeeded(node.run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(node.claims_in(tx).take_in({.rows_max = 100'000}));
            return {};
        })));
    }
    std::int64_t number(const std::string& sql) {
        return std::stoll(test::postgres_client(place_.url()).rows(sql).at(0).at(0).value_or("-1"));
    }

    test::postgres_place place_;

private:
    seeded_random random_{7};
    uuid_generator ids_{[] { return noon; }, random_};
};

}  // namespace posthorn::conformance
