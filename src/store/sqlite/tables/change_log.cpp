#include "store/sqlite/tables/change_log.hpp"

#include "store/rules/seq_ranges.hpp"

namespace posthorn::sqlite {

result<change_log> change_log::open(connection& database) {
    POSTHORN_LET(
        insert, database.prepare(
                    "INSERT INTO changes (epoch, at, kind, seqs) VALUES (coalesce("
                    "(SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'), 0), ?, ?, ?)"));
    change_log log;
    log.insert_ = std::move(insert);
    return log;
}

result<> change_log::append(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at) {
    if (seqs.empty()) return {};
    const std::string ranges = to_ranges(std::move(seqs));
    insert_.bind(1, std::int64_t{at.time_since_epoch().count()});
    insert_.bind(2, kind);
    insert_.bind(3, std::string_view(ranges));
    return insert_.run();
}

}  // namespace posthorn::sqlite
