#include "webhook/failing/failing_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

constexpr std::string_view columns = "subscription_id, since, last, failures, told";

std::int64_t ms_of(wall_time time) { return time.time_since_epoch().count(); }

failing_endpoint failing_from(const sql_row& row) {
    return {.subscription = uuid::parse(row.text(0)).value_or(uuid{}),
            .since = bounded_from_ms(row.integer(1)),
            .last = bounded_from_ms(row.integer(2)),
            .failures = std::max<std::int64_t>(row.integer(3), 0),
            .told = static_cast<std::int32_t>(std::clamp<std::int64_t>(row.integer(4), 0, 100))};
}

/// What some attempts of one endpoint, in their order, come to.
struct in_a_row {
    bool succeeded = false;
    std::int64_t failures = 0;  // After the last success.
    wall_time first{}, last{};

    void add(const webhook_attempt& one) {
        if (one.what == webhook_attempt::state::success) {
            succeeded = true;
            failures = 0;
            return;
        }
        if (failures++ == 0) first = one.at;
        last = one.at;
    }
};

result<std::optional<failing_endpoint>> find(store_transaction& tx, std::string_view id) {
    const std::array<sql_param, 1> with{id};
    std::optional<failing_endpoint> found;
    const auto sql =
        "SELECT " + std::string(columns) + " FROM webhook_failing WHERE subscription_id = ?";
    POSTHORN_TRY(tx.query(sql, with, [&](const sql_row& row) { found = failing_from(row); }));
    return found;
}

result<> remove(store_transaction& tx, std::string_view id) {
    const std::array<sql_param, 1> with{id};
    POSTHORN_TRY(tx.execute("DELETE FROM webhook_failing WHERE subscription_id = ?", with));
    return {};
}

result<> count(store_transaction& tx, std::string_view id, const in_a_row& what) {
    const std::array<sql_param, 4> with{id, ms_of(what.first), ms_of(what.last), what.failures};
    POSTHORN_TRY(tx.execute(
        "INSERT INTO webhook_failing (subscription_id, since, last, failures) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (subscription_id) DO UPDATE SET last = excluded.last,"
        " failures = CASE WHEN webhook_failing.failures BETWEEN 0 AND 1000000000000"
        " THEN webhook_failing.failures + excluded.failures ELSE 1000000000000 END",
        with));
    return {};
}

}  // namespace

result<std::vector<failing_endpoint>> note_outcomes(store_transaction& tx,
                                                    const std::vector<webhook_attempt>& all) {
    // In the order of their ids: two processes that note the same ones must not wait for each
    // other.
    std::map<uuid, in_a_row> by_endpoint;
    for (const auto& each : all) by_endpoint[each.subscription].add(each);
    std::vector<failing_endpoint> recovered;
    for (const auto& [subscription, what] : by_endpoint) {
        const auto id = subscription.to_string();
        if (what.succeeded) {
            POSTHORN_LET(known, find(tx, id));
            if (known) POSTHORN_TRY(remove(tx, id));
            if (known && known->told > 0) recovered.push_back(*known);
        }
        if (what.failures > 0) POSTHORN_TRY(count(tx, id, what));
    }
    return recovered;
}

result<std::vector<failing_endpoint>> read_failing(store_reader& from, std::int64_t limit) {
    const std::array<sql_param, 1> with{limit};
    std::vector<failing_endpoint> all;
    const auto sql =
        "SELECT " + std::string(columns) + " FROM webhook_failing ORDER BY since LIMIT ?";
    POSTHORN_TRY(
        from.query(sql, with, [&](const sql_row& row) { all.push_back(failing_from(row)); }));
    return all;
}

result<std::int64_t> count_waiting(store_reader& from, const uuid& subscription,
                                   std::int64_t at_most) {
    const auto destination = destination_of(subscription);
    const std::array<sql_param, 2> with{std::string_view(destination), at_most};
    std::int64_t number = 0;
    POSTHORN_TRY(
        from.query("SELECT count(*) FROM (SELECT 1 FROM outbox_messages WHERE destination = ?"
                   " AND status = 'Pending' LIMIT ?) AS waiting",
                   with, [&](const sql_row& row) { number = row.integer(0); }));
    return number;
}

result<bool> tell_failing(store_transaction& tx, const failing_endpoint& one, std::int32_t level) {
    const auto id = one.subscription.to_string();
    const std::array<sql_param, 3> with{std::int64_t{level}, std::string_view(id),
                                        std::int64_t{level}};
    POSTHORN_LET(changed, tx.execute("UPDATE webhook_failing SET told = ? WHERE subscription_id = ?"
                                     " AND told < ?",
                                     with));
    return changed != 0;
}

result<> forget_failing(store_transaction& tx, const uuid& subscription) {
    return remove(tx, subscription.to_string());
}

}  // namespace posthorn
