#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/settle_rider.hpp"

namespace posthorn {

/// A pending message that is to be closed without an attempt.
struct dropped_row {
    std::int64_t seq = 0;
    std::string why;  // Its resolution.
    std::shared_ptr<detail::settle_rider> rider{};
};

/// Some of one destination.
struct drop_order {
    std::string destination;
    std::vector<dropped_row> rows;
};

}  // namespace posthorn
