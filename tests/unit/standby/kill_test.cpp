// Both of a pair are processes that are killed at any moment.
#include <vector>

#include "support/eventually.hpp"
#include "unit/standby/a_pair.hpp"
#include "unit/standby/killed_process.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

class a_killed_pair : public testing::Test {
protected:
    static void keep_standby(const std::filesystem::path& copy, std::uint16_t port, int to) {
        const running_standby standby(copy, port);
        say(to, standby.port());
        for (;;) ::pause();
    }
    /// Says the number of each order once it is answered.
    static void take_orders(const std::filesystem::path& database, std::uint16_t port,
                            std::int64_t from, int to) {
        running_primary primary(database, {.to = {"127.0.0.1", port},
                                           .access = access_of(1),
                                           .stream = {std::byte{5}},
                                           .service = "orders",
                                           .beat = milliseconds{5}});
        if (!primary.commit("CREATE TABLE IF NOT EXISTS orders (n INTEGER PRIMARY KEY, note)"))
            ::_exit(1);
        // A promotion needs a whole copy, and only what follows counts on it.
        const auto is_whole = [&] { return primary.report().how == ship_report::state::following; };
        if (!test::eventually(is_whole)) ::_exit(1);
        for (auto n = from;; ++n) {
            const auto sql = "INSERT INTO orders VALUES (" + std::to_string(n) +
                             ", hex(randomblob(" + std::to_string(n * 37 % 5'000) + ")))";
            if (!primary.commit(sql)) ::_exit(1);
            say(to, n);
        }
    }
    void start_standby() {
        standby_.reset();
        standby_ =
            std::make_unique<killed_process>([&](int to) { keep_standby(copy_, port_, to); });
        port_ = static_cast<std::uint16_t>(standby_->hear().value());
    }
    void start_primary() {
        primary_.reset();
        // What was not answered may be there all the same.
        const auto from = next_ += 1'000;
        primary_ = std::make_unique<killed_process>(
            [&](int to) { take_orders(database_, port_, from, to); });
    }
    /// So many more are answered.
    void hear(int orders) {
        for (int i = 0; i < orders; ++i) answered_.push_back(primary_->hear().value());
    }
    void hear_the_rest() {
        while (const auto said = primary_->hear()) answered_.push_back(*said);
    }
    void expect_nothing_lost_by_a_promotion() {
        rows_after_promotion(copy_);
        test::sqlite_file file(copy_);
        for (const auto n : answered_)
            ASSERT_EQ(file.integer("SELECT count(*) FROM orders WHERE n = " + std::to_string(n)), 1)
                << n;
    }

    test::temporary_directory folder_{test::folder_in_memory()};
    std::filesystem::path database_ = folder_.file("orders.db");
    std::filesystem::path copy_ = folder_.file("copy.db");
    std::uint16_t port_ = 0;
    std::int64_t next_ = 0;
    std::unique_ptr<killed_process> standby_;
    std::unique_ptr<killed_process> primary_;
    std::vector<std::int64_t> answered_;
};

TEST_F(a_killed_pair, has_lost_nothing_that_was_answered) {
    start_standby();
    for (int round = 0; round < 12; ++round) {
        start_primary();
        hear(3 + (round * 11 % 40));
        if (round % 3 == 1) {  // The standby goes first, and comes back while orders are waiting.
            standby_->kill();
            start_standby();
            hear(5);
        }
        primary_->kill();
        hear_the_rest();
        if (round % 3 == 2) start_standby();
    }
    standby_->kill();
    expect_nothing_lost_by_a_promotion();
}

}  // namespace
}  // namespace posthorn::standby
