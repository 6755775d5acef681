#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/async/virtual_time.hpp"
#include "standby/follower.hpp"
#include "standby/shipper.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/sqlite_file.hpp"
#include "unit/standby/shipped_log.hpp"

namespace posthorn::standby {

inline secret key_of(std::uint8_t seed) {
    return secret(std::array<std::byte, 32>{std::byte{seed}});
}

/// With one key, in plain text.
inline pair_access access_of(std::uint8_t seed) {
    return {.keys = [seed]() -> result<key_ring> { return key_ring({make_key(key_of(seed))}); },
            .security = []() -> result<link_security> { return link_security{}; }};
}

/// A standby at work on threads of its own, until it is stopped.
class running_standby {
public:
    explicit running_standby(const std::filesystem::path& database, std::uint16_t port = 0,
                             std::uint8_t key = 1)
        : running_standby(database, {.listen = {"127.0.0.1", port}, .access = access_of(key)}) {}
    running_standby(const std::filesystem::path& database, follower_options how)
        : copy_(std::move(kept_copy::open(database)).value()),
          follower_(
              follower::open(
                  std::move(how),
                  {.copy = *copy_, .folds = folds_, .random = random_, .log = log_, .time = time_})
                  .value()),
          thread_([this] { end_ = follower_.run(); }) {}
    ~running_standby() {
        if (thread_.joinable()) EXPECT_EQ(stop(), follow_end::stopped);
    }
    running_standby(const running_standby&) = delete;
    running_standby& operator=(const running_standby&) = delete;

    [[nodiscard]] std::uint16_t port() const { return follower_.port(); }
    [[nodiscard]] follow_report report() const { return follower_.report(); }
    [[nodiscard]] const kept_copy& copy() const { return *copy_; }
    /// How it ended by itself.
    result<follow_end> end() {
        thread_.join();
        return end_;
    }
    /// Why it ended; empty after a failure, which is told.
    std::optional<follow_end> stop() {
        follower_.stop();
        return wait();
    }
    std::optional<follow_end> wait() {
        const auto ended = end();
        EXPECT_TRUE(ended) << ended.error().what();
        return ended ? std::optional(*ended) : std::nullopt;
    }

private:
    logger log_ = logger::null();
    real_clock time_;
    system_random random_;
    std::unique_ptr<kept_copy> copy_;
    worker_threads folds_{"fold"};
    follower follower_;
    result<follow_end> end_ = follow_end::stopped;
    std::jthread thread_;  // Ends before what it runs on.
};

/// A store that ships its log, on the thread of the test.
class running_primary {
public:
    running_primary(const std::filesystem::path& database, shipper_options how)
        : shipper_(std::move(how), {thread_, random_, log_, time_}) {
        auto opened =
            sqlite::open({.path = database, .service = "orders", .wal_pages_checkpoint = 40},
                         {.time = time_, .writer = writer_, .log = log_, .shipper = &shipper_});
        EXPECT_TRUE(opened) << opened.error().what();
        if (opened) store_ = *std::move(opened);
    }
    ~running_primary() {
        if (store_) store_->stop();
    }
    running_primary(const running_primary&) = delete;
    running_primary& operator=(const running_primary&) = delete;

    result<> commit(const std::string& sql) {
        result<> answer = fail(error_code::closed, "no answer");
        store_->submit({.work = [&](store_transaction& tx) -> result<> {
                            POSTHORN_TRY(tx.execute(sql, {}));
                            return {};
                        },
                        .done = [&](result<> outcome) { answer = std::move(outcome); }});
        return answer;
    }
    [[nodiscard]] ship_report report() const { return shipper_.report(); }
    [[nodiscard]] class store& store() { return *store_; }

private:
    logger log_ = logger::null();
    virtual_time time_;
    system_random random_;
    inline_executor writer_;
    worker_threads thread_{"ship"};
    shipper shipper_;
    std::unique_ptr<class store> store_;
};

/// What a standby would take the place of its primary with, if that ended now.
inline std::int64_t rows_after_promotion(const std::filesystem::path& database) {
    auto copy = kept_copy::open(database);
    EXPECT_TRUE(copy) << copy.error().what();
    EXPECT_TRUE((*copy)->promote(2));
    test::sqlite_file file(database);
    EXPECT_EQ(file.text("PRAGMA integrity_check"), "ok");
    return file.integer("SELECT count(*) FROM orders");
}

}  // namespace posthorn::standby
