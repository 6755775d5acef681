#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/detail/sql.hpp>

#include "store/lease_table.hpp"
#include "store/statements/lease_changes_sql.hpp"

namespace posthorn {

/// The leases inside a write transaction.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
template <class Driver>
class lease_changes : public lease_table {
public:
    explicit lease_changes(typename Driver::connection& database,
                           const lease_changes_sql& texts = lease_changes_texts)
        : find_(database, texts.find),
          make_(database, texts.make),
          take_(database, texts.take),
          beat_(database, texts.beat),
          release_(database, texts.release) {}

    result<std::optional<lease>> find(std::string_view name) override {
        POSTHORN_LET(found, find_.run(name));
        if (found.empty() || found.front().is_null(0)) return std::nullopt;
        return read(found.front());
    }
    result<std::optional<lease>> take(std::string_view name, std::string_view owner,
                                      const std::optional<lease>& seen) override {
        POSTHORN_TRY(Driver::soon(make_, name));
        std::optional<std::string_view> holder;
        std::optional<std::int64_t> epoch;
        std::optional<std::int64_t> beat;
        if (seen) {
            holder = seen->owner;
            epoch = seen->epoch;
            beat = seen->beat;
        }
        std::optional<lease> taken;
        POSTHORN_LET(given, take_.run(name, owner, holder, epoch, beat));
        POSTHORN_TRY(given.each([&](const sql_row& row) { taken = read(row); }));
        return taken;
    }
    result<bool> beat(std::string_view name, std::string_view owner, std::int64_t epoch) override {
        POSTHORN_LET(beaten, beat_.run(name, owner, epoch));
        return beaten.changed() > 0;
    }
    result<bool> release(std::string_view name, std::string_view owner,
                         std::int64_t epoch) override {
        POSTHORN_LET(released, release_.run(name, owner, epoch));
        return released.changed() > 0;
    }

private:
    static lease read(const sql_row& row) {
        return {std::string(row.text(0)), row.integer(1), row.integer(2)};
    }

    typename Driver::statement find_;
    typename Driver::statement make_;
    typename Driver::statement take_;
    typename Driver::statement beat_;
    typename Driver::statement release_;
};

}  // namespace posthorn
