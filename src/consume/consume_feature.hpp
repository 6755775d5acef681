#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// Takes messages from queues and streams of brokers into the inbox.
[[nodiscard]] const feature& consume_feature() noexcept;

}  // namespace posthorn
