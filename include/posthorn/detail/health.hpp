#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace posthorn {

enum class health_level : std::uint8_t {
    green,   // Does its work.
    yellow,  // Does its work, but a person should look.
    red,     // A person must look, now.
};

struct node_health {
    health_level level = health_level::green;
    std::vector<std::string> reasons{};  // Why it is not green.
    bool durable = true;                 // False where the store is in memory: a test.
};

}  // namespace posthorn
