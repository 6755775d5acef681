#pragma once

#include <chrono>

namespace posthorn {

/// A point of civil time, UTC, in whole milliseconds: as stored and as sent.
using wall_time = std::chrono::sys_time<std::chrono::milliseconds>;

}  // namespace posthorn
