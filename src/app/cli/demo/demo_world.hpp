#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/cli/kit/child_process.hpp"
#include "base/result.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::cli {

/// What the demo shows, as both databases tell it.
struct demo_counts {
    std::int64_t made = 0;        // Orders in the sender's table.
    std::int64_t delivered = 0;   // Messages that the sender knows to have arrived.
    std::int64_t effects = 0;     // Rows that the receiver's handler wrote.
    std::int64_t missing = 0;     // Orders without such a row.
    std::int64_t doubled = 0;     // Orders with more than one.
    std::int64_t duplicates = 0;  // Repeats that the receiver recognised.
    std::int64_t kills = 0;
};

/// Two services by configuration alone, each a `posthorn serve` on a database of its own: orders
/// sends what a producer with plain SQL puts into its outbox, stock writes a row for each.
///
/// Lifetime: `make`, use, destroy, which kills the services. `remove` deletes its folder.
/// Threads:  one.
class demo_world {
public:
    enum class service : std::uint8_t { orders, stock };

    static result<std::unique_ptr<demo_world>> make();

    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
    result<> start(service which);
    /// SIGKILL. It is not started again by itself.
    void kill(service which);
    [[nodiscard]] bool is_running(service which) const { return child(which).has_value(); }
    /// An error, with the last line of its log, for a service that ended by itself.
    result<> check_alive();
    /// SIGTERM to both; true once both have ended.
    bool has_stopped();
    void stop();

    /// One order and its message, in one transaction of plain SQL.
    result<> place_order();
    [[nodiscard]] result<demo_counts> count();
    void remove() const;

private:
    demo_world() = default;
    result<> write_files() const;
    result<> make_databases();
    [[nodiscard]] std::filesystem::path log_of(service which) const;
    [[nodiscard]] std::optional<child_process>& child(service which) {
        return children_.at(static_cast<std::size_t>(which));
    }
    [[nodiscard]] const std::optional<child_process>& child(service which) const {
        return children_.at(static_cast<std::size_t>(which));
    }

    std::filesystem::path folder_;
    std::array<std::optional<child_process>, 2> children_;
    std::optional<sqlite::connection> orders_;
    std::optional<sqlite::connection> stock_;
    std::int64_t made_ = 0;
    std::int64_t kills_ = 0;
};

}  // namespace posthorn::cli
