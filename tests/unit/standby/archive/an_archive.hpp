#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "standby/archive/archive_restore.hpp"
#include "standby/archive/archiver.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/eventually.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::standby {

/// Time that passes when a test says so, for several threads.
class set_time final : public clock {
public:
    [[nodiscard]] wall_time wall() const override {
        return wall_time(std::chrono::milliseconds(ms_.load() + start_ms));
    }
    [[nodiscard]] steady_time steady() const override {
        return steady_time(std::chrono::milliseconds(ms_.load()));
    }
    void advance(std::chrono::milliseconds by) { ms_ += by.count(); }

private:
    static constexpr std::int64_t start_ms = 1'770'000'000'000;
    std::atomic<std::int64_t> ms_ = 1'000;
};

/// A store that keeps its log in an archive, on the thread of the test.
class archived_store {
public:
    archived_store(const std::filesystem::path& database, archiver_options how, set_time& time,
                   int pages = 40)
        : archiver_(std::move(how), {thread_, random_, log_, time}) {
        auto opened =
            sqlite::open({.path = database, .service = "orders", .wal_pages_checkpoint = pages},
                         {.time = time, .writer = writer_, .log = log_, .shipper = &archiver_});
        EXPECT_TRUE(opened) << opened.error().what();
        if (opened) store_ = *std::move(opened);
    }
    ~archived_store() {
        if (store_) store_->stop();
    }
    archived_store(const archived_store&) = delete;
    archived_store& operator=(const archived_store&) = delete;

    result<> commit(const std::string& sql) {
        result<> answer = fail(error_code::closed, "no answer");
        store_->submit({.work = [&](store_transaction& tx) -> result<> {
                            POSTHORN_TRY(tx.execute(sql, {}));
                            return {};
                        },
                        .done = [&](result<> outcome) { answer = std::move(outcome); }});
        return answer;
    }
    [[nodiscard]] archive_report report() const { return archiver_.report(); }

private:
    logger log_ = logger::null();
    system_random random_;
    inline_executor writer_;
    worker_threads thread_{"archive"};
    archiver archiver_;
    std::unique_ptr<class store> store_;
};

class an_archive : public testing::Test {
protected:
    [[nodiscard]] archiver_options options() const {
        return {.as = {.folder = folder_.file("archive"),
                       .database = "orders",
                       .service = "orders",
                       .epoch = 1}};
    }
    void start() { start(options()); }
    void start(const archiver_options& how, int pages = 40) {
        store_.reset();
        store_.emplace(database_, how, time_, pages);
        ASSERT_TRUE(
            store_->commit("CREATE TABLE IF NOT EXISTS orders (n INTEGER PRIMARY KEY, note TEXT)"));
        // There is no log before the first commit that writes.
        ASSERT_TRUE(store_->commit("CREATE TABLE IF NOT EXISTS starts (n INTEGER PRIMARY KEY)"));
        ASSERT_TRUE(store_->commit("INSERT INTO starts DEFAULT VALUES"));
    }
    /// Until then nothing can be restored.
    void wait_for_base() {
        ASSERT_TRUE(test::eventually([&] { return store_->report().base_at.has_value(); }))
            << store_->report().trouble;
    }
    void stop() { store_.reset(); }
    [[nodiscard]] wall_time now() const { return time_.wall(); }
    /// One more row; what there is from this moment on is remembered.
    void place_order() {
        time_.advance(std::chrono::milliseconds{1'000});
        const auto answer = store_->commit("INSERT INTO orders (note) VALUES (hex(randomblob(" +
                                           std::to_string(100 + (orders_ * 701 % 3'000)) + ")))");
        ASSERT_TRUE(answer) << answer.error().what();
        ++orders_;
        known_[now()] = orders_;
    }
    [[nodiscard]] result<archive_restore_report> restore(
        const std::filesystem::path& into, std::optional<wall_time> moment = {}) const {
        return restore_from_archive({.archive = folder_.file("archive"),
                                     .name = "orders",
                                     .into = into,
                                     .service = "orders",
                                     .moment = moment},
                                    time_);
    }
    /// How many rows there are in what is restored; -1 if that fails.
    [[nodiscard]] std::int64_t orders_at(std::optional<wall_time> moment) const {
        const auto into = folder_.file("then.db");
        const auto done = restore(into, moment);
        if (!done) {
            ADD_FAILURE() << done.error().what();
            return -1;
        }
        if (moment) EXPECT_LE(done->moment, *moment);
        std::int64_t count = 0;
        {
            test::sqlite_file file(into);
            EXPECT_EQ(file.text("PRAGMA integrity_check"), "ok");
            count = file.integer("SELECT count(*) FROM orders");
            EXPECT_EQ(count, file.integer("SELECT coalesce(max(n), 0) FROM orders"));
        }
        for (const auto* const beside : {"", "-wal", "-shm"})
            std::filesystem::remove(into + beside);
        return count;
    }
    /// By that moment.
    [[nodiscard]] std::int64_t orders_known_at(wall_time moment) const {
        const auto after = known_.upper_bound(moment);
        return after == known_.begin() ? 0 : std::prev(after)->second;
    }
    [[nodiscard]] static std::vector<stretch> stretches_in(const std::filesystem::path& folder) {
        return scan_archive(folder, "orders").value();
    }
    [[nodiscard]] std::vector<stretch> stretches() const {
        return stretches_in(folder_.file("archive"));
    }

    test::temporary_directory folder_{test::folder_in_memory()};
    std::filesystem::path database_ = folder_.file("orders.db");
    mutable set_time time_;
    std::optional<archived_store> store_;
    std::int64_t orders_ = 0;
    std::map<wall_time, std::int64_t> known_;
};

/// Changes one bit; once more, and it is as it was.
inline void damage(const std::filesystem::path& file, std::uint64_t where) {
    auto opened = plain_file::open(file, plain_file::how::write).value();
    std::array<std::byte, 1> one{};
    EXPECT_TRUE(opened.read(one, where));
    one[0] ^= std::byte{4};
    EXPECT_TRUE(opened.write(one, where));
}

/// In the middle of a file.
inline void damage(const std::filesystem::path& file) {
    damage(file, std::filesystem::file_size(file) / 2);
}

}  // namespace posthorn::standby
