#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "base/time/clock.hpp"
#include "security/address_guard.hpp"

namespace posthorn {

/// The addresses of this machine's interfaces, as they are now; `io_failed` if the system does not
/// tell them.
[[nodiscard]] result<std::vector<ip_address>> own_addresses();

/// Looks again each minute, as long as it is asked: a machine may get addresses while it runs.
class own_addresses_watch {
public:
    /// Empty if it is not yet time, or if the system does not tell them: those known before hold.
    [[nodiscard]] std::optional<std::vector<ip_address>> look(steady_time now);

private:
    std::optional<steady_time> looked_at_;
};

}  // namespace posthorn
