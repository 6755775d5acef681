#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/doctor/doctor.hpp"

namespace posthorn {

// Which queue or version it is only the broker knows, so this is said and not complained of.
finding check_brokers(const doctor_facts& facts) {
    if (facts.brokers.empty()) return {finding_level::ok, "no route goes to a broker"};
    return {
        finding_level::ok,
        fmt::format("delivered is what the broker confirms: {}; see docs/operating/rabbitmq.md, "
                    "nats.md and kafka.md",
                    fmt::join(facts.brokers, "; "))};
}

}  // namespace posthorn
