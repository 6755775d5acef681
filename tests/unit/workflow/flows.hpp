#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <posthorn/workflow.hpp>

/// Messages that the workflows of these tests exchange.
namespace posthorn::test {

struct receipt {
    std::string number;
    bool operator==(const receipt&) const = default;
};
struct charge {
    using contract = as_command<"Charge", receipt>;
    std::string order_id;
    std::int64_t cents = 0;
};
struct refund {
    using contract = as_command<"Refund">;
    std::string order_id;
};
using billing = service<"billing", 1, charge, refund>;

struct decided {
    using contract = as_signal<"Decided">;
    std::string order_id;
    std::string by;
};
struct moved {
    using contract = as_signal<"Moved">;
    std::string who;
};
using emp = service<"emp", 2, moved>;

struct phase {
    std::string now = "new";
    bool operator==(const phase&) const = default;
};

}  // namespace posthorn::test
