#include "store/postgres/tables/page_reader.hpp"

#include <map>
#include <utility>

#include "store/postgres/tables/outbox_rows.hpp"

namespace posthorn::postgres {
namespace {

constexpr auto pending_rows = joined("SELECT ", outbox_columns, R"sql(,
        CASE WHEN order_key <> '' THEN {s}.is_blocked(destination, tenant, order_key, seq)
            ELSE false END
    FROM {s}.outbox_messages WHERE seq = ANY ($1::bigint[]) AND status = 'Pending')sql");

}  // namespace

page_reader::page_reader(connection& database, outbox_rules rules)
    : rules_(std::move(rules)), many_(database, pending_rows) {}

result<outbox_page> page_reader::read(const chosen_rows& chosen) {
    outbox_page page;
    page.more = chosen.more;
    if (chosen.seqs.empty()) return page;
    POSTHORN_LET(found, many_.run(chosen.seqs));
    std::map<std::int64_t, int> places;
    for (int i = 0; i < found.size(); ++i) places.emplace(found[i].integer(0), i);
    page.rows.reserve(chosen.seqs.size());
    for (const auto seq : chosen.seqs)
        if (const auto place = places.find(seq); place != places.end())
            read_into(page, found[place->second]);
    return page;
}

void page_reader::read_into(outbox_page& page, const sql_row& from) const {
    auto row = read_row(from, rules_.source);
    if (row)
        if (auto fit = validate(row->body, rules_.limits); !fit) row = std::unexpected(fit.error());
    if (!row) {
        page.bad.push_back(
            {from.integer(0), fmt::format("{}: {}", row.error().name(), row.error().what())});
        return;
    }
    row->parked = from.integer(outbox_columns_count) != 0;
    (row->parked ? page.parked : page.rows).push_back(*std::move(row));
}

}  // namespace posthorn::postgres
