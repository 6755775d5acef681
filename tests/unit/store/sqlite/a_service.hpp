#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/async/executor.hpp"
#include "base/async/virtual_time.hpp"
#include "base/log/log.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::sqlite {

/// The database of a service `orders` on the real disk, with a table of its own, under a clock that
/// stands still.
class a_service : public ::testing::Test {
protected:
    a_service() { open_store(); }
    ~a_service() override { close_store(); }

    void open_store() {
        auto opened = open({.path = database_, .service = "orders", .shared = true},
                           {.time = time_, .writer = writer_, .log = log_});
        ASSERT_TRUE(opened) << opened.error().what();
        store_ = *std::move(opened);
        commit("CREATE TABLE IF NOT EXISTS orders (n INTEGER PRIMARY KEY, note)");
    }
    void close_store() {
        if (store_) store_->stop();
        store_.reset();
    }
    void commit(const std::string& sql) {
        result<> answer = fail(error_code::closed, "no answer");
        store_->submit({.work = [&](store_transaction& tx) -> result<> {
                            POSTHORN_TRY(tx.execute(sql, {}));
                            return {};
                        },
                        .done = [&](result<> outcome) { answer = std::move(outcome); }});
        ASSERT_TRUE(answer) << sql << ": " << answer.error().what();
    }
    void place_orders(int count) {
        commit("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < " +
               std::to_string(count) +
               ") INSERT INTO orders (note) SELECT hex(randomblob(1000)) FROM c");
    }
    [[nodiscard]] static std::int64_t orders_in(const std::string& file) {
        return test::sqlite_file(file).integer("SELECT count(*) FROM orders");
    }

    test::temporary_directory place_;
    std::string database_ = place_.file("orders.db");
    std::filesystem::path folder_ = place_.path() / "backups";
    virtual_time time_;
    inline_executor writer_;
    logger log_ = logger::null();
    std::unique_ptr<store> store_;
};

}  // namespace posthorn::sqlite
