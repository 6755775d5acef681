// Power cuts at random moments: what was answered is there, and nothing is there by half.
#include <map>

#include "base/random.hpp"
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using unsynced = disk_faults::unsynced;

/// One life of a store that ends with a power cut, and what it answered.
class life {
public:
    life(const store_factory& factory, std::uint64_t seed)
        : chance_(seed), disk_(factory.make(seed)) {}

    void live();
    /// Restores the power, at times to lose it again while the store recovers, and compares.
    void check();
    [[nodiscard]] std::size_t answered() const { return answered_; }

private:
    unit plan_unit(int number);
    work plan_work(int number);
    std::unique_ptr<posthorn::store> open_again();

    seeded_random chance_;
    std::unique_ptr<storage> disk_;
    seeded_random id_chance_{1};
    uuid_generator ids_{[] { return noon; }, id_chance_};
    std::map<int, result<>> answers_;
    int units_ = 0;
    std::size_t answered_ = 0;
};

work life::plan_work(int number) {
    message body;
    body.id = ids_.next();
    body.source = "orders";
    body.destination = "billing";
    body.endpoint = "Charge";
    body.correlation_id = std::to_string(number);
    body.created_at = noon;
    body.expires_at = noon + std::chrono::hours{1};
    body.payload = '"' + std::string(chance_.below(3000), 'p') + '"';
    const bool cheats = chance_.below(12) == 0;
    return [this, number, body, cheats](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.execute(fmt::format("INSERT INTO t VALUES ({})", number), {}));
        POSTHORN_TRY(tx.outbox().insert(body));
        if (cheats) POSTHORN_TRY(tx.execute(disk_->speaks().group_breakers.front(), {}));
        return {};
    };
}

unit life::plan_unit(int number) {
    return {.work = plan_work(number),
            .done =
                [this, number](result<> outcome) {
                    EXPECT_TRUE(answers_.emplace(number, std::move(outcome)).second)
                        << "answered twice";
                },
            .lazy = chance_.below(10) == 0};
}

void life::live() {
    auto opened = disk_->open({.checkpoints_often = chance_.below(2) == 0});
    ASSERT_TRUE(succeeded(opened));
    auto& db = **opened;
    for (const auto* sql :
         {"CREATE TABLE t(n INTEGER PRIMARY KEY)", "CREATE TABLE held(id INTEGER PRIMARY KEY)",
          "INSERT INTO held VALUES (1), (2)"}) {
        db.submit({.work = execute(sql),
                   .done = [](result<> outcome) { EXPECT_TRUE(succeeded(outcome)); }});
    }
    disk_->faults()->cut_power_after(chance_.below(200));
    for (int group = 0; group < 60 && disk_->faults()->powered(); ++group) {
        std::vector<unit> units;
        for (auto left = 1 + chance_.below(5); left > 0; --left)
            units.push_back(plan_unit(units_++));
        db.submit(std::move(units));
        if (chance_.below(8) == 0) db.barrier([](const result<>&) {});
    }
    db.stop();
    ASSERT_EQ(answers_.size(), static_cast<std::size_t>(units_));  // Lazy ones too.
}

std::unique_ptr<posthorn::store> life::open_again() {
    auto& faults = *disk_->faults();
    if (faults.powered()) faults.cut_power();
    faults.restore_power(unsynced::chosen_by_seed);
    if (chance_.below(3) == 0) {
        faults.cut_power_after(chance_.below(20));
        if (auto early = disk_->open(); early) (*early)->stop();
        if (faults.powered()) faults.cut_power();
        faults.restore_power(unsynced::chosen_by_seed);
    }
    auto opened = disk_->open();
    EXPECT_TRUE(succeeded(opened));
    return opened ? *std::move(opened) : nullptr;
}

void life::check() {
    const auto db = open_again();
    ASSERT_NE(db, nullptr);
    EXPECT_TRUE(succeeded(db->check_integrity()));
    db->stop();
    const auto other = disk_->connect();
    std::map<int, int> found;
    for (const auto& row : other->rows("SELECT n FROM t")) found[std::stoi(*row[0])] += 1;
    for (const auto& row : other->rows("SELECT correlation_id FROM outbox_messages"))
        found[std::stoi(*row[0])] += 2;
    for (const auto& [number, halves] : found) EXPECT_EQ(halves, 3) << "half of unit " << number;
    for (const auto& [number, outcome] : answers_) {
        answered_ += outcome ? 1 : 0;
        if (outcome) {
            EXPECT_TRUE(found.contains(number)) << "unit " << number << " was answered and is lost";
        } else if (found.contains(number)) {
            EXPECT_TRUE(outcome.error().is_in_doubt())
                << "unit " << number << " is there: " << outcome.error().what();
        }
    }
}

TEST_P(store_on_a_failing_disk, five_hundred_power_cuts_lose_no_answered_unit_and_tear_none) {
    std::size_t answered = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        life one(GetParam(), seed);
        one.live();
        one.check();
        answered += one.answered();
        if (HasFailure()) break;
    }
    EXPECT_GT(answered, 500U);  // Otherwise the cuts came too early to show anything.
}

TEST_P(store_on_a_failing_disk, a_power_cut_while_the_tables_are_made_leaves_a_store_that_opens) {
    bool finished = false;
    for (std::uint64_t cut = 0; !finished; ++cut) {
        SCOPED_TRACE(fmt::format("after {} operations", cut));
        const auto disk = GetParam().make(cut);
        auto& faults = *disk->faults();
        faults.cut_power_after(cut);
        if (auto early = disk->open(); early) (*early)->stop();
        finished = faults.powered();
        if (!finished)
            faults.restore_power(unsynced::chosen_by_seed);
        else
            faults.cut_power_after(1'000'000);
        auto opened = disk->open();
        ASSERT_TRUE(succeeded(opened));
        result<> outcome = fail(error_code::timed_out, "no answer");
        (*opened)->submit({.work = execute("CREATE TABLE t(n INTEGER)"),
                           .done = [&](result<> value) { outcome = std::move(value); }});
        (*opened)->stop();
        ASSERT_TRUE(succeeded(outcome));
    }
}

}  // namespace
}  // namespace posthorn::conformance
