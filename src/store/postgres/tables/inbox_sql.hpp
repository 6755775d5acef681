#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/lease_table.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/rules/inbox_looks.hpp"

namespace posthorn::postgres {

/// A row that was inserted before the unit that asks for it.
struct row_ahead {
    std::string source;
    uuid id;
    std::int64_t seq = 0;  // None if it was there before.
    bool is_taken = false;
};

/// The inbox inside a write transaction.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class inbox_sql final : public inbox_table {
public:
    explicit inbox_sql(connection& database);

    result<std::optional<inbox_entry>> find(const inbox_key& key) override;
    result<bool> insert(const inbox_record& record) override;
    result<> respond(const inbox_key& key, std::string_view response) override;
    result<bool> claim(const inbox_claim& wanted, wall_time now) override;
    result<bool> complete(const inbox_record& record, std::string_view owner) override;
    result<bool> release(const inbox_key& key, std::string_view owner) override;

    /// Inserts the rows of a group at once; the units that insert them one by one then are told
    /// what became of them.
    result<> insert_ahead(std::span<const inbox_record> rows);
    /// Forgets them. False if there is one that no unit has inserted, and that must not stay.
    bool end_ahead();

    /// What the present unit took in, for the change log.
    std::vector<std::int64_t> take_received() { return std::exchange(received_, {}); }

private:
    row_ahead* find_ahead(const inbox_key& key);

    statement find_;
    statement insert_;
    statement respond_;
    statement claim_;
    statement complete_;
    statement release_;
    statement insert_all_;
    std::vector<std::int64_t> received_;
    std::vector<row_ahead> ahead_;  // In the order of their keys.
};

class inbox_reading final : public inbox_looks<driver> {
public:
    explicit inbox_reading(connection& database);
};

/// The leases inside a write transaction.
class lease_sql final : public lease_table {
public:
    explicit lease_sql(connection& database);

    result<std::optional<lease>> find(std::string_view name) override;
    result<std::optional<lease>> take(std::string_view name, std::string_view owner,
                                      const std::optional<lease>& seen) override;
    result<bool> beat(std::string_view name, std::string_view owner, std::int64_t epoch) override;
    result<bool> release(std::string_view name, std::string_view owner,
                         std::int64_t epoch) override;

private:
    statement find_;
    statement make_;
    statement take_;
    statement beat_;
    statement release_;
    statement leave_;
    statement end_frozen_;
};

}  // namespace posthorn::postgres
