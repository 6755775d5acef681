// A store on a disk that fills up: it stops early, ends its work with the ballast, and goes on.
#include <gtest/gtest.h>

#include "base/async/executor.hpp"
#include "base/async/virtual_time.hpp"
#include "base/random.hpp"
#include "base/uuid_generator.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/fault_disk/fault_disk.hpp"

namespace posthorn::sqlite {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = kib * 1024;

/// The room of a fault disk. The ballast is room that is taken off it.
struct room {
    fault_disk disk{1};
    std::uint64_t size = 0;
    std::uint64_t ballast = 0;

    void resize(std::uint64_t bytes) {
        size = bytes;
        disk.set_capacity(size - ballast);
    }
    [[nodiscard]] std::uint64_t free() const {
        const auto used = disk.bytes_used() + ballast;
        return used < size ? size - used : 0;
    }
};

class room_of_the_disk final : public disk_space {
public:
    explicit room_of_the_disk(room& of) : of_(of) {}

    std::optional<std::uint64_t> free() override { return of_.free(); }
    bool has_ballast() override { return of_.ballast > 0; }
    result<> make_ballast(std::uint64_t bytes) override {
        of_.ballast = bytes;
        of_.resize(of_.size);
        return {};
    }
    void drop_ballast() override {
        of_.ballast = 0;
        of_.resize(of_.size);
    }

private:
    room& of_;
};

class disk_full : public ::testing::Test {
protected:
    disk_full() {
        room_.resize(100 * mib);
        auto opened =
            open({.path = "orders.db",
                  .service = "orders",
                  .vfs = room_.disk.vfs_name(),
                  .disk = {.low_water = 8 * mib, .ballast = 2 * mib},
                  .disk_space = [this] { return std::make_unique<room_of_the_disk>(room_); }},
                 {.time = time_, .writer = writer_, .log = log_});
        EXPECT_TRUE(opened) << opened.error().what();
        store_ = *std::move(opened);
    }
    ~disk_full() override {
        room_.resize(1000 * mib);
        store_->stop();
        store_.reset();
    }

    result<> run(unit::work_type work) {
        result<> outcome;
        store_->submit({.work = std::move(work),
                        .done = [&](result<> answer) { outcome = std::move(answer); }});
        return outcome;
    }
    result<> send(std::size_t payload_bytes = 10) {
        return run([&](store_transaction& tx) -> result<> {
            message body;
            body.id = ids_.next();
            body.source = "orders";
            body.destination = "billing";
            body.endpoint = "Charge";
            body.payload = '"' + std::string(payload_bytes, 'p') + '"';
            body.created_at = time_.wall();
            body.expires_at = time_.wall() + 24h;
            POSTHORN_TRY(tx.outbox().insert(std::move(body)));
            return {};
        });
    }
    result<> receive() {
        return run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.inbox().insert({.key = {"stock", ids_.next()},
                                            .endpoint = "Ship",
                                            .processed_at = time_.wall(),
                                            .expires_at = time_.wall() + 48h}));
            return {};
        });
    }
    /// Records that the first message was delivered.
    result<> settle() {
        return run([&](store_transaction& tx) -> result<> {
            const auto lease = tx.leases().take("dispatcher", "me", {});
            POSTHORN_TRY(lease);
            if (*lease) epoch_ = (*lease)->epoch;
            POSTHORN_TRY(tx.outbox().settle(
                std::vector<settlement>{{.seq = 1, .to = outbox_status::sent, .at = time_.wall()}},
                epoch_));
            return {};
        });
    }
    std::int64_t sent() {
        std::int64_t count = 0;
        EXPECT_TRUE(store_->read([&](store_reader& from) -> result<> {
            const auto counts = from.outbox().counts();
            POSTHORN_TRY(counts);
            count = counts->sent;
            return {};
        }));
        return count;
    }

    virtual_time time_;
    seeded_random random_{7};
    uuid_generator ids_{[this] { return time_.wall(); }, random_};
    logger log_ = logger::null();
    inline_executor writer_;
    room room_;
    std::int64_t epoch_ = 0;
    std::unique_ptr<store> store_;
};

TEST_F(disk_full, has_its_ballast_from_the_start) {
    EXPECT_EQ(room_.ballast, 2 * mib);
    EXPECT_TRUE(disk_of(*store_).has_ballast);
    EXPECT_EQ(disk_of(*store_).state, disk_state::enough);
}

TEST_F(disk_full, below_the_mark_takes_nothing_new_but_ends_what_is_there) {
    ASSERT_TRUE(send());
    room_.resize(room_.disk.bytes_used() + room_.ballast + 5 * mib);
    store_->upkeep()->look_at_disk();
    for (const auto& refused : {send(), receive()}) {
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), error_code::store_full);
        EXPECT_NE(std::string(refused.error().what()).find("free space"), std::string::npos);
    }
    EXPECT_TRUE(settle());
    EXPECT_EQ(sent(), 1);
    EXPECT_EQ(disk_of(*store_).state, disk_state::low);
    EXPECT_EQ(disk_of(*store_).refused, 2U);
    EXPECT_EQ(room_.ballast, 2 * mib);  // There was room.
}

TEST_F(disk_full, gives_up_the_ballast_so_that_outcomes_are_recorded) {
    ASSERT_TRUE(send());
    // The WAL begins anew after a checkpoint and would find room in itself.
    while (send(100'000)) room_.resize(room_.disk.bytes_used() + room_.ballast + 20 * kib);
    EXPECT_EQ(room_.ballast, 0U);
    EXPECT_EQ(disk_of(*store_).state, disk_state::full);
    EXPECT_TRUE(settle());
    EXPECT_EQ(sent(), 1);
    EXPECT_FALSE(send());
}

TEST_F(disk_full, goes_on_by_itself_when_there_is_room_and_takes_its_ballast_again) {
    ASSERT_TRUE(send());
    while (send(100'000)) room_.resize(room_.disk.bytes_used() + room_.ballast + 20 * kib);
    store_->upkeep()->look_at_disk();
    EXPECT_EQ(disk_of(*store_).state, disk_state::low);
    EXPECT_FALSE(receive());
    room_.resize(100 * mib);
    store_->upkeep()->look_at_disk();
    EXPECT_TRUE(send());
    EXPECT_TRUE(receive());
    EXPECT_EQ(room_.ballast, 2 * mib);
    EXPECT_EQ(disk_of(*store_).state, disk_state::enough);
    EXPECT_TRUE(store_->check_integrity());
}

}  // namespace
}  // namespace posthorn::sqlite
