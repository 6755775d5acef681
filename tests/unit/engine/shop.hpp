#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <posthorn/node.hpp>
#include <posthorn/workflow.hpp>

#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

/// Workflows of a shop, and the services that they call.
namespace shop {

using posthorn::flow;
using posthorn::the;
using posthorn::workflow;

struct order {
    std::string id;
    std::int64_t cents = 0;
};
struct reserve {
    using contract = posthorn::as_command<"Reserve">;
    std::string order_id;
};
struct release {
    using contract = posthorn::as_command<"Release">;
    std::string order_id;
};
using stock = posthorn::service<"stock", 1, reserve, release>;

struct receipt {
    std::string number;
};
struct charge {
    using contract = posthorn::as_command<"Charge", receipt>;
    std::string order_id;
    std::int64_t cents = 0;
};
using billing = posthorn::service<"billing", 1, charge>;

struct decided {
    using contract = posthorn::as_signal<"Decided">;
    std::string order_id, by;
    bool approved = false;
    int level = 0;
};
struct order_placed {
    using contract = posthorn::as_signal<"OrderPlaced">;
    std::string id;
    std::int64_t cents = 0;
};

struct closed {
    using contract = posthorn::as_signal<"Closed">;
    std::string order_id;
};
using till_v2 = posthorn::service<"till", 2, closed>;

struct phase {
    std::string now = "new", by;
};

}  // namespace shop

namespace posthorn {

/// A node with workflows, and the services beside it, in a directory of their own.
class engine_test : public testing::Test {
protected:
    [[nodiscard]] node_options options(const std::string& service) const {
        return {
            .service = service,
            .store = {.database = directory.file(service + ".db")},
            .default_route = "inprocess:",
            .retry = {.retries_max = 2,
                      .backoff = exponential_backoff{.base = std::chrono::milliseconds(1),
                                                     .max = std::chrono::milliseconds(5),
                                                     .jitter_max = std::chrono::milliseconds(1)}},
            .log_sink = [this](std::string_view line) {
                const std::scoped_lock lock(log_mutex);
                log.append(line).append("\n");
            }};
    }

    static std::int64_t number(node& on, const std::string& sql) {
        return on.transact(
            [&](transaction& tx) { return tx.query_value<std::int64_t>(sql).value_or(0); });
    }
    static void run(node& on, const std::string& sql) {
        on.transact([&](transaction& tx) { tx.execute(sql); });
    }
    [[nodiscard]] std::string logged() const {
        const std::scoped_lock lock(log_mutex);
        return log;
    }

    test::temporary_directory directory;
    mutable std::mutex log_mutex;
    mutable std::string log;
};

/// Waits until an instance is as asked.
template <class Code, class Is>
[[nodiscard]] bool becomes(const node& on, Code code, std::string_view id, Is is) {
    return test::eventually([&] {
        const auto seen = on.find(code, id);
        return seen && is(*seen);
    });
}
template <class Code>
[[nodiscard]] bool ends_as(const node& on, Code code, std::string_view id, flow_status how) {
    return becomes(on, code, id, [&](const workflow_view& seen) { return seen.status == how; });
}

}  // namespace posthorn
