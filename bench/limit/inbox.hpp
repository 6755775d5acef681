#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limit/database.hpp"

namespace posthorn::bench {

/// A message as it came; what it points to is the caller's.
struct arrived_message {
    std::span<const std::uint8_t> id;
    std::int64_t expires_ms = 0;
    std::string_view payload{};
};

/// The receiver's half of the guarantee, by hand: the row that recognises a repeat and the business
/// row, of all messages that came together, in one commit.
///
/// Threads: one.
class inbox {
public:
    explicit inbox(const std::string& file);

    /// Gives the numbers of those that took effect now, and are on disk when it returns; the others
    /// had done so before.
    const std::vector<std::uint64_t>& apply(std::span<const arrived_message> batch);
    [[nodiscard]] std::uint64_t count_effects();

private:
    database file_;
    statement begin_;
    statement add_seen_;
    statement add_charge_;
    statement commit_;
    std::vector<std::uint64_t> fresh_;
};

}  // namespace posthorn::bench
