#pragma once

#include <string>

#include "store/postgres/driver/connection.hpp"

namespace posthorn::postgres {

/// Which of the store's tables and sequences this role may not use as a node does, and all GRANTs
/// that it takes. Empty if there is none, or no schema yet.
result<std::string> missing_rights(connection& database);

}  // namespace posthorn::postgres
