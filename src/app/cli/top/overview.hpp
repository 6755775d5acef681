#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "app/cli/top/node_samples.hpp"

namespace posthorn::cli {

/// What `posthorn top` knows of a node after one look. Fields that a node does not have stay empty.
struct overview {
    struct lane {
        std::string destination{};
        std::string state{};
        std::string why{};
        std::int64_t waiting = 0;
        std::optional<std::chrono::milliseconds> oldest{};
        std::optional<double> sent_per_second{};

        bool operator==(const lane&) const = default;
    };
    struct queue {
        std::string name{};
        std::int64_t waiting = 0;
        std::int64_t taken = 0;
        std::int64_t given_up = 0;
        std::optional<std::chrono::milliseconds> oldest{};

        bool operator==(const queue&) const = default;
    };

    std::string service{};
    std::string light{};
    std::vector<std::string> reasons{};
    std::int64_t pending = 0;
    std::int64_t dead = 0;
    std::int64_t expired = 0;
    std::int64_t blocked = 0;
    std::optional<double> sent_per_second{};
    std::optional<double> received_per_second{};
    std::optional<double> send_ms{};     // On average, since the look before.
    std::optional<double> process_ms{};  // Likewise.
    std::vector<lane> lanes{};
    std::vector<queue> queues{};
};

/// The answers that it is made of.
struct node_answers {
    boost::json::object health{};
    boost::json::object stats{};
    boost::json::object lanes{};
    boost::json::object queues{};
    node_samples samples{};
};

/// Puts them together; `before` is what the numbers were a moment ago. Pure. All that a stranger may
/// have written is made fit for a terminal.
[[nodiscard]] overview to_overview(const node_answers& now, const node_samples& before);

}  // namespace posthorn::cli
