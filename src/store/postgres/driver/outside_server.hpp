#pragma once

#include <memory>
#include <string>

#include "base/time/clock.hpp"
#include "store/outside_database.hpp"

namespace posthorn::postgres {

/// A database of another program's on a server. The clock outlives it.
[[nodiscard]] std::unique_ptr<outside_database> outside_server(std::string url, const clock& time);

}  // namespace posthorn::postgres
