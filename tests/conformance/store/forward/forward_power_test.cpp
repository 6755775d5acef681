// Power cuts while work is stored, attempted and settled: a message, what is held of it, its tracking
// and the totals are of one state, whatever was lost.
#include "base/random.hpp"
#include "conformance/store/suite.hpp"
#include "forward/forward_tables.hpp"

namespace posthorn::conformance {
namespace {

/// One life of a site that ends with a power cut.
class site_life {
public:
    site_life(const store_factory& factory, std::uint64_t seed)
        : chance_(seed), disk_(factory.make(seed)) {}

    void live();
    void check();
    [[nodiscard]] std::size_t stored() const { return stored_.size(); }

private:
    std::vector<std::string> plan();
    void submit(posthorn::store& db, std::vector<std::string> statements, std::string stores);

    seeded_random chance_;
    std::unique_ptr<storage> disk_;
    int number_ = 0;
    std::vector<std::string> stored_;  // Ids whose commit was answered.
};

std::string id_of(int number) { return fmt::format("018f3b1c-0000-7000-9000-{:012x}", number); }

// What a dispatcher and an operator do to one of those that may be there.
std::vector<std::string> site_life::plan() {
    const auto id = id_of(static_cast<int>(1 + chance_.below(static_cast<std::uint64_t>(number_))));
    const auto held = "(SELECT seq FROM outbox_messages WHERE message_id = '" + id + "')";
    switch (chance_.below(5)) {
        case 0:  // An attempt failed.
            return {
                "UPDATE forward_messages SET retry_count = retry_count + 1, last_attempt_at ="
                " 1900000000000 WHERE status = 0 AND seq = " +
                    held,
                "UPDATE outbox_messages SET retry_count = retry_count + 1 WHERE status ="
                " 'Pending' AND message_id = '" +
                    id + "'"};
        case 1:  // It was delivered.
            return {"DELETE FROM forward_messages WHERE status = 0 AND seq = " + held,
                    "UPDATE outbox_messages SET status = 'Sent', sent_at = 1900000000000 WHERE"
                    " status = 'Pending' AND message_id = '" +
                        id + "'"};
        case 2:
            return {
                "UPDATE outbox_messages SET status = 'Dead', last_error = 'no paper' WHERE"
                " status = 'Pending' AND message_id = '" +
                id + "'"};
        case 3: return {"UPDATE sf_messages SET status = 0 WHERE status = 2 AND id = '" + id + "'"};
        default: return {"DELETE FROM sf_messages WHERE status = 2 AND id = '" + id + "'"};
    }
}

void site_life::submit(posthorn::store& db, std::vector<std::string> statements,
                       std::string stores) {
    db.submit({.work = [statements = std::move(statements)](store_transaction& tx) -> result<> {
                   for (const auto& sql : statements) POSTHORN_TRY(tx.execute(sql, {}));
                   return {};
               },
               .done =
                   [this, stores = std::move(stores)](const result<>& outcome) {
                       if (outcome && !stores.empty()) stored_.push_back(stores);
                   }});
}

void site_life::live() {
    auto opened =
        disk_->open({.checkpoints_often = chance_.below(2) == 0, .above = {forward_tables()}});
    ASSERT_TRUE(succeeded(opened));
    auto& db = **opened;
    disk_->faults()->cut_power_after(chance_.below(150));
    for (int step = 0; step < 60 && disk_->faults()->powered(); ++step) {
        const auto id = id_of(++number_);
        submit(db,
               {"INSERT INTO sf_messages (id, category, target, payload_json) VALUES ('" + id +
                "', 0, 'erp', '{}')"},
               id);
        submit(db, plan(), "");
    }
    db.stop();
}

void site_life::check() {
    auto& faults = *disk_->faults();
    if (faults.powered()) faults.cut_power();
    faults.restore_power(disk_faults::unsynced::chosen_by_seed);
    auto opened = disk_->open({.above = {forward_tables()}});
    ASSERT_TRUE(succeeded(opened));
    (*opened)->stop();
    const auto other = disk_->connect();
    const auto count = [&](const std::string& sql) { return *other->rows(sql).at(0).at(0); };
    EXPECT_EQ(count("SELECT count(*) FROM outbox_messages AS sent LEFT JOIN forward_messages AS"
                    " held USING (seq) JOIN OperationTracking ON TrackedOperationId = message_id"
                    " WHERE (sent.status || ' ' || coalesce(held.status, '-') || ' ' ||"
                    " OperationTracking.Status) NOT IN ('Pending 0 Submitted',"
                    " 'Pending 0 Retrying', 'Dead 2 Parked', 'Sent - Delivered',"
                    " 'Resolved - Discarded')"),
              "0");
    EXPECT_EQ(count("SELECT count(*) FROM outbox_messages WHERE message_id NOT IN"
                    " (SELECT TrackedOperationId FROM OperationTracking)"),
              "0");
    EXPECT_EQ(count("SELECT coalesce(sum(waiting), 0) || ' ' || coalesce(sum(parked), 0) || ' ' ||"
                    " coalesce(sum(bytes), 0) FROM forward_totals"),
              count("SELECT coalesce(sum(status = 0), 0) || ' ' || coalesce(sum(status = 2), 0) ||"
                    " ' ' || coalesce(sum(bytes), 0) FROM forward_messages"));
    EXPECT_EQ(count("SELECT count(*) FROM forward_messages AS held JOIN outbox_messages AS sent"
                    " USING (seq) WHERE held.retry_count <> sent.retry_count"),
              "0");
    for (const auto& id : stored_)
        EXPECT_EQ(count("SELECT count(*) FROM outbox_messages WHERE message_id = '" + id + "'"),
                  "1")
            << id << " was answered and is lost";
}

TEST_P(store_on_a_failing_disk, power_cuts_leave_no_held_work_in_two_states_and_lose_none) {
    std::size_t stored = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        site_life one(GetParam(), seed);
        one.live();
        one.check();
        stored += one.stored();
        if (HasFailure()) break;
    }
    EXPECT_GT(stored, 40U);  // Otherwise the cuts came too early to show anything.
}

}  // namespace
}  // namespace posthorn::conformance
