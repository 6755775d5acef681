#include "store/rows/inbox_rows.hpp"

#include <algorithm>

#include "base/checksum.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

std::int64_t checksum_of_response(std::string_view response) {
    checksum sum;
    sum.add(response);
    return sum.value();
}

}  // namespace

std::optional<std::int64_t> seal_of(std::string_view response) {
    return response.empty() ? std::nullopt : std::optional(checksum_of_response(response));
}

result<inbox_entry> read_inbox_entry(const sql_row& row, const uuid& id) {
    inbox_entry entry;
    const auto hash = row.bytes(0);
    std::copy_n(hash.begin(), std::min(hash.size(), entry.hash.size()), entry.hash.begin());
    entry.processed = row.get<bool>(1);
    entry.response = row.text(2);
    entry.claimed_until = from_ms(row.integer(3));
    entry.claim_owner = row.text(4);
    if (!row.is_null(5) && row.integer(5) != checksum_of_response(entry.response))
        return fail(error_code::store_corrupt,
                    "the response to {} is not what was stored: the disk has changed it; run "
                    "'posthorn doctor --full'",
                    id.to_string());
    return entry;
}

}  // namespace posthorn
