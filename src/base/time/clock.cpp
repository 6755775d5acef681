#include "base/time/clock.hpp"

namespace posthorn {

wall_time real_clock::wall() const {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

steady_time real_clock::steady() const { return std::chrono::steady_clock::now(); }

}  // namespace posthorn
