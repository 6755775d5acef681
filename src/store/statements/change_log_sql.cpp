#include "store/statements/change_log_sql.hpp"

namespace posthorn {

constinit const statement_text change_log_text{.sqlite = R"sql(
          INSERT INTO changes (epoch, at, kind, seqs)
          VALUES (coalesce((SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'), 0),
                  ?, ?, ?))sql",
                                               .postgres = R"sql(
          INSERT INTO {s}.changes (epoch, at, kind, seqs)
          VALUES (coalesce({s}.claimant(),
              (SELECT max(epoch) FROM {s}.posthorn_leases WHERE name LIKE 'dispatcher%'), 0),
              $1, $2, $3))sql"};

}  // namespace posthorn
