// Units that change more than SQLite keeps in memory.
#include "unit/store/sqlite/a_service.hpp"

namespace posthorn::sqlite {
namespace {

class a_large_unit : public a_service {
protected:
    static result<> run(store_transaction& tx, std::initializer_list<const char*> statements) {
        for (const auto* const one : statements) POSTHORN_TRY(tx.execute(one, {}));
        return {};
    }
    /// What is there for whoever has the files alone, as after a power cut.
    std::int64_t orders_later() {
        const test::temporary_directory place;
        const auto copy = place.file("copy.db");
        std::filesystem::copy_file(database_, copy);
        std::filesystem::copy_file(database_ + "-wal", copy + "-wal");
        return orders_in(copy);
    }
};

// If pages go into the log before their commit, and once more, and are then undone, SQLite writes
// what comes next without checksums, and after a restart it is not there.
TEST_F(a_large_unit, that_fails_takes_nothing_along_of_what_is_committed_with_it) {
    int answered = 0;
    const auto note = [&](result<> outcome) { answered += outcome.has_value(); };
    const auto insert = [](store_transaction& tx) {
        return run(tx, {"INSERT INTO orders (note) VALUES ('small')"});
    };
    std::vector<unit> together;
    together.push_back({.work = insert, .done = note});
    together.push_back(
        {.work = [](store_transaction& tx) -> result<> {
             POSTHORN_TRY(run(tx, {"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c"
                                   " WHERE n < 20000) INSERT INTO orders (n, note)"
                                   " SELECT n + 1000, randomblob(1500) FROM c",
                                   "UPDATE orders SET note = 'again' WHERE n > 5000",
                                   "UPDATE orders SET note = 'and again' WHERE n > 5000"}));
             return fail(error_code::cancelled, "it is undone");
         },
         .done = note});
    together.push_back({.work = insert, .done = note});
    store_->submit(std::move(together));
    EXPECT_EQ(answered, 2);
    EXPECT_EQ(orders_later(), 2);
}

}  // namespace
}  // namespace posthorn::sqlite
