#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// Who holds a job that one node does at a time, such as dispatching.
///
/// No two nodes' clocks are compared: a holder changes `beat`, and a node that sees the same beat
/// for longer than the lease lasts, by its own steady clock, may take over.
struct lease {
    std::string owner;
    std::int64_t epoch = 0;  // Grows by one with each new holder; writes of older ones are refused.
    std::int64_t beat = 0;

    bool operator==(const lease&) const = default;
};

/// The leases inside a write transaction.
class lease_table {
public:
    virtual ~lease_table() = default;

    virtual result<std::optional<lease>> find(std::string_view name) = 0;
    /// Makes `owner` the holder with the next epoch, if the lease is still as `seen` (empty: not
    /// there, or given back). Gives the new lease, or empty if another was quicker.
    virtual result<std::optional<lease>> take(std::string_view name, std::string_view owner,
                                              const std::optional<lease>& seen) = 0;
    /// Shows that the holder lives; false if it is the holder no more.
    virtual result<bool> beat(std::string_view name, std::string_view owner,
                              std::int64_t epoch) = 0;
    /// Gives the lease back, so that the next one need not wait. False if it is not the owner's, or
    /// cannot be had for a moment.
    virtual result<bool> release(std::string_view name, std::string_view owner,
                                 std::int64_t epoch) = 0;
};

}  // namespace posthorn
