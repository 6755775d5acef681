#include "conformance/store/storage/sqlite_storage.hpp"

#include <filesystem>
#include <latch>

#include <gtest/gtest.h>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "conformance/store/storage/sqlite_connection.hpp"
#include "conformance/store/temporary_directory.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "store/sqlite/driver/memory_file.hpp"
#include "support/fault_disk/fault_disk.hpp"

namespace posthorn::conformance {
namespace {

const dialect sqlite_dialect{
    .forbidden = {"BEGIN", "BEGIN IMMEDIATE", "COMMIT", "END", "ROLLBACK", "SAVEPOINT mine",
                  "RELEASE mine", "RELEASE posthorn_unit", "ROLLBACK TO posthorn_unit",
                  "ATTACH ':memory:' AS elsewhere", "DETACH main", "PRAGMA synchronous = OFF",
                  "PRAGMA foreign_keys", "PRAGMA wal_checkpoint(TRUNCATE)"},
    .group_breakers = {"INSERT OR ROLLBACK INTO held VALUES (1)",
                       "UPDATE OR ROLLBACK held SET id = 2 WHERE id = 1"},
    .endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT count(*) FROM n",
    .deleting_trigger = {"CREATE TRIGGER forget AFTER UPDATE OF status ON outbox_messages "
                         "WHEN NEW.status = '{}' "
                         "BEGIN DELETE FROM outbox_messages WHERE seq = NEW.seq; END"},
    .swallowing_trigger = {"CREATE TRIGGER hush BEFORE {} ON outbox_messages "
                           "BEGIN SELECT RAISE(IGNORE); END"}};

/// What both kinds of storage share.
class sqlite_storage : public storage {
public:
    result<std::unique_ptr<posthorn::store>> open(store_settings settings) override {
        constexpr int pages_few = 10;
        sqlite::sqlite_options options{.path = path(), .service = "orders", .vfs = vfs()};
        options.shared = settings.shared;
        options.sync = sync();
        options.defaults = settings.defaults;
        options.above = settings.above;
        if (settings.checkpoints_often) options.wal_pages_checkpoint = pages_few;
        return sqlite::open(options, {.time = time_, .writer = writer(), .log = log_});
    }
    std::unique_ptr<foreign_connection> connect(durability how) override {
        return std::make_unique<sqlite_connection>(path(), vfs().empty() ? nullptr : vfs().c_str(),
                                                   how);
    }
    void wait_for_writer() override {
        std::latch done(1);
        writer().post([&] { done.count_down(); });
        done.wait();
    }
    void pretend_newer() override {
        const auto refused =
            connect(durability::full)
                ->run(
                    "INSERT INTO posthorn_migrations SELECT DISTINCT folder, 999, 0 "
                    "FROM posthorn_migrations WHERE folder = 'store'");
        EXPECT_EQ(refused, std::nullopt);
    }
    [[nodiscard]] wall_time now() override { return time_.wall(); }
    [[nodiscard]] const dialect& speaks() const override { return sqlite_dialect; }

protected:
    [[nodiscard]] virtual const std::string& path() const = 0;
    [[nodiscard]] virtual const std::string& vfs() const = 0;
    virtual executor& writer() = 0;
    [[nodiscard]] virtual sqlite::synchronous sync() const { return sqlite::synchronous::full; }

    real_clock time_;
    logger log_ = logger::null();
};

class on_files final : public sqlite_storage {
    [[nodiscard]] const std::string& path() const override { return path_; }
    [[nodiscard]] const std::string& vfs() const override { return vfs_; }
    executor& writer() override { return writer_; }

    temporary_directory place_;
    std::string path_ = (place_.path() / "orders.db").string();
    std::string vfs_;
    worker_threads writer_{"writer"};
};

class in_memory final : public sqlite_storage {
    [[nodiscard]] const std::string& path() const override { return place_->path(); }
    [[nodiscard]] const std::string& vfs() const override { return vfs_; }
    executor& writer() override { return writer_; }
    [[nodiscard]] sqlite::synchronous sync() const override { return sqlite::synchronous::off; }

    std::unique_ptr<sqlite::memory_file> place_ = sqlite::memory_file::make().value();
    std::string vfs_;
    worker_threads writer_{"writer"};
};

class on_fault_disk final : public sqlite_storage, disk_faults {
public:
    explicit on_fault_disk(std::uint64_t seed) : disk_(seed), vfs_(disk_.vfs_name()) {
        fault_disk::seed_sqlite(static_cast<std::uint32_t>(seed));
        disk_.set_clock([] { return still_ms; });
    }
    [[nodiscard]] wall_time now() override {
        return wall_time{std::chrono::milliseconds{still_ms}};
    }
    disk_faults* faults() override { return this; }

private:
    static constexpr std::int64_t still_ms = 1'800'000'000'123;
    static constexpr std::uint64_t page_bytes = 4096;

    void cut_power_after(std::uint64_t operations) override {
        disk_.cut_after_operations(operations);
    }
    void cut_power() override { disk_.cut_now(); }
    void restore_power(unsynced fate) override {
        disk_.restore_power(fate == unsynced::dropped ? fault_disk::unsynced::dropped
                                                      : fault_disk::unsynced::chosen_by_seed);
    }
    [[nodiscard]] bool powered() const override { return disk_.powered(); }
    [[nodiscard]] std::uint64_t operations() const override { return disk_.operations(); }
    void fail_next_sync() override { disk_.fail_next_syncs(); }
    void leave_room_for(std::uint64_t bytes) override {
        disk_.set_capacity(disk_.bytes_used() + bytes);
    }
    void make_room() override { disk_.set_capacity(fault_disk::unlimited); }
    void corrupt() override {
        const auto size = disk_.contents(path_).size();
        ASSERT_GT(size, 2 * page_bytes);
        for (std::uint64_t at = page_bytes; at + 64 <= size; at += page_bytes)
            disk_.corrupt(path_, at, 64);
    }
    std::int64_t durable_number(std::string_view sql) override {
        const auto survivor = disk_.clone_durable();
        return sqlite_connection(path_, survivor->vfs_name(), durability::full).number(sql);
    }

    [[nodiscard]] const std::string& path() const override { return path_; }
    [[nodiscard]] const std::string& vfs() const override { return vfs_; }
    executor& writer() override { return writer_; }

    fault_disk disk_;
    std::string path_ = "orders.db";
    std::string vfs_;
    inline_executor writer_;
};

}  // namespace

std::unique_ptr<storage> sqlite_on_files() { return std::make_unique<on_files>(); }

std::unique_ptr<storage> sqlite_in_memory() { return std::make_unique<in_memory>(); }

std::unique_ptr<storage> sqlite_on_fault_disk(std::uint64_t seed) {
    return std::make_unique<on_fault_disk>(seed);
}

}  // namespace posthorn::conformance
