#pragma once

#include <cstdint>

namespace posthorn {

/// What is wrong in the tables that are kept beside messages.
struct beside_report {
    std::int64_t lost = 0;  // Messages that no row leads to.
    std::int64_t odd = 0;   // Rows that belong to no message, or say something else than theirs.
};

}  // namespace posthorn
