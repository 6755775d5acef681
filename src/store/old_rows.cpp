#include "store/old_rows.hpp"

#include "base/assert.hpp"
#include "store/outbox_table.hpp"

namespace posthorn {

std::string_view to_string(row_kind kind) noexcept {
    switch (kind) {
        case row_kind::sent: return "sent";
        case row_kind::dead: return "dead";
        case row_kind::expired: return "expired";
        case row_kind::resolved: return "resolved";
        case row_kind::received: return "received";
        case row_kind::changes: return "changes";
    }
    POSTHORN_ASSERT(false);
    return {};
}

std::string_view closed_status_of(row_kind kind) noexcept {
    switch (kind) {
        case row_kind::dead: return to_string(outbox_status::dead);
        case row_kind::expired: return to_string(outbox_status::expired);
        default: return to_string(outbox_status::resolved);
    }
}

}  // namespace posthorn
