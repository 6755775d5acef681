#include "store/postgres/tables/page_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/postgres/tables/outbox_rows.hpp"
#include "store/rows/row_sizes.hpp"
#include "store/statements/postgres_parts.hpp"

namespace posthorn::postgres {
namespace {

constexpr auto pending_rows = joined("SELECT ", outbox_columns, R"sql(,
        CASE WHEN order_key <> '' THEN {s}.is_blocked(destination, tenant, order_key, seq)
            ELSE false END
    FROM {s}.outbox_messages
    WHERE seq = ANY ($1::bigint[]) AND status = 'Pending' AND )sql",
                                     row_octets, " <= $2::bigint");

// In the order of `sized_columns`, after the number and the sum.
constexpr auto sizes_of_rows = joined("SELECT seq, ", row_octets, ", ", payload_octets, ", ",
                                      headers_octets, R"sql(, octet_length(destination),
        octet_length(endpoint), octet_length(content_type), octet_length(correlation_id),
        octet_length(tenant), octet_length(order_key), octet_length(dedupe_key),
        octet_length(message_id), octet_length(message_type), octet_length(parent_id),
        octet_length(causation_id)
    FROM {s}.outbox_messages WHERE seq = ANY ($1::bigint[]) AND status = 'Pending')sql");

}  // namespace

page_reader::page_reader(connection& database, outbox_rules rules)
    : rules_(std::move(rules)), many_(database, pending_rows), sizes_(database, sizes_of_rows) {}

result<outbox_page> page_reader::read(const chosen_rows& chosen, std::size_t bytes_max) {
    outbox_page page;
    page.more = chosen.more;
    if (chosen.seqs.empty()) return page;
    const auto most = static_cast<std::int64_t>(
        std::min<std::size_t>(bytes_max, std::numeric_limits<std::int64_t>::max()));
    found_rows found;
    const auto share = std::min(most / std::ssize(chosen.seqs), row_bytes_max(rules_.limits));
    POSTHORN_LET(bytes, read_some(found, chosen.seqs, share));
    std::vector<std::int64_t> large;
    for (const auto seq : chosen.seqs)
        if (!found.contains(seq)) large.push_back(seq);
    if (!large.empty()) {
        POSTHORN_LET(all, read_large(found, large, most - bytes));
        page.more |= !all;
    }
    page.rows.reserve(chosen.seqs.size());
    for (const auto seq : chosen.seqs) {
        const auto place = found.find(seq);
        if (place == found.end()) continue;
        auto& row = place->second;
        if (!row)
            page.bad.push_back(
                {seq, fmt::format("{}: {}", row.error().name(), row.error().what())});
        else
            (row->parked ? page.parked : page.rows).push_back(*std::move(row));
    }
    return page;
}

result<std::int64_t> page_reader::read_some(found_rows& into, std::span<const std::int64_t> seqs,
                                            std::int64_t bytes_each_max) {
    POSTHORN_LET(found, many_.run(seqs, bytes_each_max));
    std::int64_t bytes = 0;
    for (int i = 0; i < found.size(); ++i) {
        const auto from = found[i];
        auto row = read_row(from, rules_.source);
        if (row)
            if (auto fit = validate(row->body, rules_.limits); !fit)
                row = std::unexpected(fit.error());
        if (row) {
            row->parked = from.integer(outbox_columns_count) != 0;
            bytes += static_cast<std::int64_t>(bytes_of(*row));
        }
        into.emplace(from.integer(0), std::move(row));
    }
    return bytes;
}

result<bool> page_reader::read_large(found_rows& into, std::span<const std::int64_t> seqs,
                                     std::int64_t bytes_left) {
    POSTHORN_LET(found, sizes_.run(seqs));
    std::map<std::int64_t, std::int64_t> fitting;  // Bytes by number.
    for (int i = 0; i < found.size(); ++i) {
        const auto row = found[i];
        column_sizes sizes{};
        for (std::size_t column = 0; column < sizes.size(); ++column)
            if (!row.is_null(column + 2)) sizes[column] = row.integer(column + 2);
        const auto seq = row.integer(0);
        if (auto fit = check_sizes(sizes, rules_.limits); !fit)
            into.emplace(seq, std::unexpected(fit.error()));
        else
            fitting.emplace(seq, row.integer(1));
    }
    std::vector<std::int64_t> taken;
    for (const auto seq : seqs) {
        const auto size = fitting.find(seq);
        if (size == fitting.end()) continue;
        if (!taken.empty() && size->second > bytes_left) break;
        bytes_left -= size->second;
        taken.push_back(seq);
    }
    if (!taken.empty())
        POSTHORN_TRY(read_some(into, taken, std::numeric_limits<std::int64_t>::max()));
    return taken.size() == fitting.size();
}

}  // namespace posthorn::postgres
