#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "measure/load.hpp"

namespace posthorn::bench {

/// What every program here takes.
struct arguments {
    std::string transport;
    measure::load load{};
    /// Without outbox, inbox and business rows: publish, consume, acknowledge.
    bool bare = false;
    int window = 1024;              // Messages that a bare publisher has not seen confirmed.
    std::string queue = "classic";  // Of RabbitMQ: classic or quorum.
    std::filesystem::path folder{};
    bool json = false;
};

/// Throws for what it does not know. The first of the transports is the default.
[[nodiscard]] arguments parse_arguments(int count, char** words,
                                        std::initializer_list<std::string_view> transports);

}  // namespace posthorn::bench
