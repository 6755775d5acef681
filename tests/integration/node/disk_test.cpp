// A node on a real disk that fills up and is emptied again, without a restart.
#include <atomic>
#include <filesystem>
#include <fstream>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/small_disk.hpp"

namespace posthorn::integration {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

class node_disk : public node_test {
protected:
    void SetUp() override {
        if (!disk.is_there()) GTEST_SKIP() << "no right to mount a small disk here";
    }

    /// On the small disk.
    [[nodiscard]] configuration small() const {
        const auto file = directory.file("orders.toml");
        std::ofstream(file) << "[service]\nid = \"orders\"\n[listen]\nhttp = \"\"\nadmin = \"\"\n"
                            << "[store]\nurl = \"sqlite:" << disk.file("orders.db") << "\"\n"
                            << "disk_low_water = \"8MiB\"\nballast = \"4MiB\"\n"
                            << "[routes]\ndefault = \"inprocess:\"\n";
        auto loaded = load(file);
        loaded.options.log_sink = [](std::string_view) {};
        return loaded;
    }
    [[nodiscard]] bool has_ballast() const {
        return std::filesystem::exists(disk.file("orders.db-ballast"));
    }

    test::small_disk disk{64 * mib};
};

TEST_F(node_disk, that_is_full_lets_work_end_and_takes_new_work_once_there_is_room) {
    node orders(small());
    std::atomic<int> shipped = 0;
    orders.handle("Ship", [&](context&, const message&) { ++shipped; });
    orders.start();
    EXPECT_TRUE(has_ballast());
    for (int i = 0; i < 50; ++i) orders.send("billing", "Charge", "{}");

    // Below the mark: nothing new, neither from here nor from elsewhere.
    disk.fill_up_to(6 * mib);
    ASSERT_TRUE(test::eventually([&] { return orders.health().level == health_level::red; }));
    EXPECT_NE(orders.health().reasons.at(0).find("disk"), std::string::npos);
    EXPECT_EQ(code_of([&] { orders.send("billing", "Charge", "{}"); }), error_code::store_full);

    // What was there goes out, and that it did is recorded.
    node billing(options("billing"));
    billing.handle("Charge", [](context&, const message&) {});
    billing.start();
    ASSERT_TRUE(test::eventually([&] { return orders.stats().sent == 50; }));
    billing.send("orders", "Ship", "{}");
    EXPECT_TRUE(has_ballast());

    disk.empty();
    ASSERT_TRUE(test::eventually([&] { return orders.health().level == health_level::green; }));
    orders.send("billing", "Charge", "{}");
    EXPECT_TRUE(test::eventually([&] { return orders.stats().sent == 51; }));
    EXPECT_TRUE(test::eventually([&] { return billing.stats().sent == 1; }));
    EXPECT_EQ(shipped, 1);
    EXPECT_EQ(billing.stats().dead, 0);
    orders.check_integrity();
}

TEST_F(node_disk, without_any_room_gives_its_ballast_up_and_records_what_was_delivered) {
    node orders(small());
    orders.start();
    for (int i = 0; i < 2'000; ++i) orders.send("billing", "Charge", "{}");
    disk.fill_up_to(0);
    node billing(options("billing"));
    billing.handle("Charge", [](context&, const message&) {});
    billing.start();
    ASSERT_TRUE(test::eventually([&] { return orders.stats().sent == 2'000; }));
    ASSERT_TRUE(test::eventually([&] { return !has_ballast(); }));
    EXPECT_TRUE(test::eventually([&] { return orders.health().level == health_level::red; }));

    disk.empty();
    ASSERT_TRUE(test::eventually([&] { return has_ballast(); }));
    EXPECT_TRUE(test::eventually([&] { return orders.health().level == health_level::green; }));
    orders.send("billing", "Charge", "{}");
    orders.check_integrity();
}

}  // namespace
}  // namespace posthorn::integration
