#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "measure/load.hpp"

namespace posthorn::bench {

/// What every program here takes.
struct arguments {
    std::string transport;
    measure::load load{};
    /// Without outbox, inbox and business rows: publish, consume, acknowledge.
    bool bare = false;
    /// With an outbox as most would write it, without group commit.
    bool plain = false;
    /// Several loads on one server, such as `concurrent:64,bare:rate:200`, in place of the one
    /// above.
    std::string plan{};
    std::string queue = "classic";  // Of RabbitMQ: classic or quorum.
    std::filesystem::path folder{};
    bool json = false;
};

/// Throws for what it does not know. The first of the transports is the default.
[[nodiscard]] arguments parse_arguments(int count, char** words,
                                        std::initializer_list<std::string_view> transports);

/// One for each load of the plan, or the one there is. A load is `[bare:|plain:]MODE[:NUMBER]`,
/// where MODE is that of `--mode` or `chained`, and NUMBER the senders or the messages a second.
[[nodiscard]] std::vector<arguments> loads_of(const arguments& given);

}  // namespace posthorn::bench
