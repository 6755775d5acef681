#include "store/sqlite/tables/change_log.hpp"

#include "store/rows/stored_time.hpp"
#include "store/rules/seq_ranges.hpp"

namespace posthorn::sqlite {

change_log::change_log(connection& database)
    : insert_(database, R"sql(
          INSERT INTO changes (epoch, at, kind, seqs)
          VALUES (coalesce((SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'), 0),
                  ?, ?, ?))sql") {}

result<> change_log::append(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at) {
    if (seqs.empty()) return {};
    const std::string ranges = to_ranges(std::move(seqs));
    POSTHORN_TRY(insert_.run(to_ms(at), kind, ranges));
    return {};
}

}  // namespace posthorn::sqlite
