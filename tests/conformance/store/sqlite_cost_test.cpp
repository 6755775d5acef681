// What a message costs in statements, so that what only some ask for is paid by them alone.
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include "base/async/executor.hpp"
#include "conformance/store/suite.hpp"
#include "conformance/store/temporary_directory.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

std::vector<sqlite3*>& opened_handles() {
    static std::vector<sqlite3*> handles;
    return handles;
}

int note_handle(sqlite3* handle, const char**, const void*) {
    opened_handles().push_back(handle);
    return SQLITE_OK;
}

class sqlite_cost : public ::testing::Test {
protected:
    void SetUp() override {
        const auto hook = reinterpret_cast<void (*)()>(note_handle);
        ASSERT_EQ(sqlite3_auto_extension(hook), SQLITE_OK);
        opened_handles().clear();
        auto opened =
            sqlite::open({.path = (place_.path() / "orders.db").string(), .service = "orders"},
                         {.time = time_, .writer = writer_, .log = log_});
        sqlite3_cancel_auto_extension(hook);
        ASSERT_TRUE(succeeded(opened));
        store_ = *std::move(opened);
        auto* const writer = opened_handles().front();  // Opened before the readers.
        sqlite3_trace_v2(
            writer, SQLITE_TRACE_STMT,
            [](unsigned, void* self, void* statement, void* text) -> int {
                static_cast<sqlite_cost*>(self)->note(
                    sqlite3_sql(static_cast<sqlite3_stmt*>(statement)),
                    static_cast<const char*>(text));
                return 0;
            },
            this);
        take_lease();
    }
    void TearDown() override { store_->stop(); }

    void note(std::string_view sql, std::string_view text) {
        if (text.starts_with("--")) return;  // Of a trigger.
        if (sql.find("outbox_messages") != std::string_view::npos) ++statements_;
    }
    /// How many statements on the outbox a unit takes.
    int cost(work what) {
        statements_ = 0;
        result<> outcome = fail(error_code::timed_out, "no answer");
        store_->submit({.work = std::move(what), .done = [&](result<> given) { outcome = given; }});
        EXPECT_TRUE(succeeded(outcome));
        return statements_;
    }
    void take_lease() {
        cost([this](store_transaction& tx) -> result<> {
            const auto taken = tx.leases().take(dispatcher_lease, "this test", std::nullopt);
            POSTHORN_TRY(taken);
            epoch_ = taken->value().epoch;
            return {};
        });
    }
    message sample() {
        message body;
        body.id = ids_.next();
        body.source = "orders";
        body.destination = "billing";
        body.endpoint = "Charge";
        body.payload = "{}";
        body.created_at = noon;
        body.expires_at = noon + 1h;
        return body;
    }
    int settle_cost(std::int64_t seq, bool followers_wait) {
        return cost([=, this](store_transaction& tx) -> result<> {
            const settlement sent{.seq = seq,
                                  .to = outbox_status::sent,
                                  .at = noon,
                                  .followers_wait = followers_wait};
            POSTHORN_TRY(tx.outbox().settle({&sent, 1}, epoch_));
            return {};
        });
    }

    temporary_directory place_;
    real_clock time_;
    inline_executor writer_;
    logger log_ = logger::null();
    seeded_random random_{7};
    uuid_generator ids_{[] { return noon; }, random_};
    std::unique_ptr<posthorn::store> store_;
    std::int64_t epoch_ = 0;
    int statements_ = 0;
};

TEST_F(sqlite_cost, a_plain_message_takes_one_statement_to_store_and_one_to_settle) {
    EXPECT_EQ(cost(enqueue(sample())), 1);
    EXPECT_EQ(settle_cost(1, false), 1);
}

TEST_F(sqlite_cost, order_and_dedupe_keys_are_paid_by_those_who_have_them) {
    auto keyed = sample();
    keyed.order_key = "o1";
    EXPECT_EQ(cost(enqueue(keyed)), 2);
    EXPECT_GT(settle_cost(1, true), 1);
    auto once = sample();
    once.dedupe_key = "k";
    EXPECT_EQ(cost(enqueue(once)), 2);
    once.id = ids_.next();
    EXPECT_EQ(cost(enqueue(once)), 1);
}

}  // namespace
}  // namespace posthorn::conformance
