#pragma once

#include "store/migration.hpp"

namespace posthorn {

/// What a site holds for others, what became of each tracked operation, and the same under the
/// names of the document that programs may know: the view `sf_messages` and `OperationTracking`.
///
/// A row of `forward_messages` lives as long as its message waits or is parked. It follows its
/// message on every path, since triggers see what an operator, an expiry or plain SQL does to it:
/// they stand on `outbox_closed`, so that only what is given up or closed pays for them.
[[nodiscard]] table_set forward_tables() noexcept;

}  // namespace posthorn
