#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "consume/consume_rules.hpp"
#include "feature/feature.hpp"
#include "transport/broker/broker_consumer.hpp"
#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// One queue or stream that is consumed.
struct consume_source {
    std::string name{};
    std::string url{};
    const broker_kind* kind = nullptr;
    route_options options{};
    std::string password{};   // Where it lies; empty for none.
    std::string authority{};  // Whom its certificate is believed by; the system's if empty.
    consume_rules rules{};
    consume_patience patience{};
    std::int64_t window = 200;
    std::int64_t window_kib = 8 * 1024;
};

/// The sources of `[consume]`. `error_code::invalid_configuration`, naming the entry; quotes
/// nothing that may be a secret, and fetches none.
[[nodiscard]] result<std::vector<consume_source>> read_sources(const feature_settings& said);

/// The password of a source, read anew; empty where it has none.
[[nodiscard]] std::function<result<std::string>()> password_of(const consume_source& from);

}  // namespace posthorn
