#include "power/fault_disk/workload.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace posthorn {

workload::workload(std::uint64_t seed, workload_options options)
    : options_(std::move(options)), chance_(seed ^ 0x5eedU), disk_(seed) {
    fault_disk::seed_sqlite(static_cast<std::uint32_t>(seed));
    disk_.leave_garbage(options_.garbage);
}

workload_outcome workload::run() {
    prepare();
    while (outcome_.cuts < options_.cuts && outcome_.damaged == 0) {
        live_until_the_cut();
        database_.reset();
        disk_.restore_power();
        ++outcome_.cuts;
        open();
        judge();
    }
    return outcome_;
}

// Checkpoints come every few commits, so that cuts fall into them too.
void workload::open() {
    database_ = std::make_unique<plain_database>(disk_, "a.db");
    if (options_.attach_second_file) database_->run("ATTACH 'b.db' AS second");
    database_->run("PRAGMA synchronous = " + options_.synchronous);
    database_->run("PRAGMA wal_autocheckpoint = 12");
    if (options_.journal != "wal") database_->run("PRAGMA journal_mode = " + options_.journal);
}

void workload::prepare() {
    open();
    const std::string second = options_.attach_second_file ? "second" : "main";
    ASSERT_EQ(database_->run(fmt::format("PRAGMA main.journal_mode = {0};"
                                         "PRAGMA {1}.journal_mode = {0};"
                                         "PRAGMA synchronous = extra;"
                                         "CREATE TABLE main.a(i INTEGER PRIMARY KEY, payload BLOB);"
                                         "CREATE TABLE {1}.b(i INTEGER PRIMARY KEY, payload BLOB);"
                                         "CREATE TABLE main.total(sum INTEGER);"
                                         "INSERT INTO total VALUES (0);",
                                         options_.journal, second)),
              SQLITE_OK);
    open();
    ASSERT_EQ(database_->text("PRAGMA main.journal_mode"), options_.journal);
}

bool workload::commit_one() {
    const auto next = last_ + 1;
    const auto done =
        database_->run(fmt::format("BEGIN IMMEDIATE;"
                                   "INSERT INTO a VALUES ({0}, randomblob({1}));"
                                   "INSERT INTO b VALUES ({0}, randomblob({2}));"
                                   "UPDATE total SET sum = sum + {0};"
                                   "COMMIT;",
                                   next, chance_.below(12'000), chance_.below(600)));
    if (done == SQLITE_OK) last_ = next;
    return done == SQLITE_OK;
}

void workload::live_until_the_cut() {
    disk_.cut_after_operations(chance_.below(options_.operations_max));
    while (commit_one()) ++outcome_.acknowledged;
    ASSERT_FALSE(disk_.powered()) << sqlite3_errmsg(database_->handle());
}

void workload::judge() {
    const auto counts = database_->text(
        "SELECT (SELECT count(*) FROM a) || ' ' || (SELECT coalesce(max(i), 0) FROM a) || ' ' ||"
        "       (SELECT count(*) FROM b) || ' ' || (SELECT sum FROM total)");
    if (database_->text("PRAGMA integrity_check") != "ok" || counts.starts_with('[')) {
        ++outcome_.damaged;
        return;
    }
    std::istringstream numbers(counts);
    std::uint64_t rows = 0;
    std::uint64_t highest = 0;
    std::uint64_t others = 0;
    std::uint64_t sum = 0;
    numbers >> rows >> highest >> others >> sum;
    const bool whole = highest == rows && others == rows && sum == rows * (rows + 1) / 2;
    if (!whole || rows > last_ + 1) ++outcome_.torn;  // One more than last_ was in doubt.
    if (rows < last_) outcome_.lost += last_ - rows;
    if (rows > last_) ++outcome_.survived_doubt;
    last_ = rows;
    if (!whole) mend(std::min(rows, others));
}

// So that one torn transaction is counted once.
void workload::mend(std::uint64_t rows) {
    database_->run(
        fmt::format("DELETE FROM a WHERE i > {0}; DELETE FROM b WHERE i > {0};"
                    "UPDATE total SET sum = (SELECT coalesce(sum(i), 0) FROM a)",
                    rows));
    last_ = rows;
}

workload_outcome run_seeds(std::uint64_t count, const workload_options& options) {
    workload_outcome sum;
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        const auto one = workload(seed, options).run();
        const bool bad = one.lost + one.torn + one.damaged > 0;
        if (bad && sum.first_bad_seed == 0) sum.first_bad_seed = seed;
        sum.cuts += one.cuts;
        sum.acknowledged += one.acknowledged;
        sum.lost += one.lost;
        sum.torn += one.torn;
        sum.damaged += one.damaged;
        sum.survived_doubt += one.survived_doubt;
    }
    return sum;
}

}  // namespace posthorn
