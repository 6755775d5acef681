#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <posthorn/service.hpp>

/// A service with a field of each kind that a contract can tell.
namespace offered {

enum class shift : std::uint8_t { early, late, night };
POSTHORN_ENUM(shift, early, (late, "Late"), night)
struct address {
    std::string street;
    std::optional<std::string> door;
};
POSTHORN_STRUCT(address, street, door)
struct hired {
    std::string note;
    posthorn::uuid badge;
};
POSTHORN_STRUCT(hired, note, badge)
struct hire {
    std::string who;
    std::int32_t age = 0;
    std::uint64_t number = 0;
    double pay = 0;
    bool full_time = false;
    std::optional<shift> when;
    std::vector<address> homes;
    std::map<std::string, std::int64_t> skills;
    posthorn::uuid badge;
    posthorn::wall_time from{};
    std::chrono::nanoseconds notice{};
};
POSTHORN_COMMAND(hire, "Hire", hired, who, age, number, pay, full_time, when, homes, skills, badge,
                 from, notice)
struct moved {
    std::string to;
};
POSTHORN_SIGNAL(moved, "Moved", to)
struct counted {
    posthorn::raw_json anything;
};
POSTHORN_PUSH_CALL(counted, "Counted", anything)
using emp = posthorn::service<"emp", 3, hire, moved, counted>;

}  // namespace offered
