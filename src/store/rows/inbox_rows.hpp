#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <posthorn/detail/sql.hpp>

#include "store/inbox_table.hpp"

namespace posthorn {

/// What is kept of a response to know it by; nothing for none.
[[nodiscard]] std::optional<std::int64_t> seal_of(std::string_view response);

/// Of body_hash, whether it was processed, response_payload, claim_until, claim_owner and
/// response_checksum. A response that is not what was stored is `error_code::store_corrupt`.
result<inbox_entry> read_inbox_entry(const sql_row& row, const uuid& id);

}  // namespace posthorn
