#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/async/bell.hpp"
#include "store/outbox_table.hpp"

namespace posthorn {

/// Takes committed rows from a writer's thread to the dispatcher's strand, a bounded number of
/// them and of their bytes, and one that is about to be. What does not fit is dropped and found by
/// the cold path: it is in the table.
///
/// Lifetime: outlives the store's use of it as a listener.
/// Threads:  any.
/// Cancel:   nothing here waits.
class hand_over {
public:
    struct taken {
        std::vector<outbox_row> rows;
        bool overflowed = false;  // Rows were dropped since the last time.
        /// What is likely to come next, if nothing has come.
        std::optional<outbox_row> expected{};
    };

    struct limits {
        std::size_t rows = 0;
        std::size_t bytes = 0;  // Of messages.
    };

    hand_over(limits most, bell& arrivals) : most_(most), arrivals_(arrivals) {}

    /// While closed, as on a stand-by, it drops everything and calls that no overflow. Where
    /// several dispatch, `claims` is the epoch under which rows are stored for this one; others
    /// overflow, but for those whose time is yet to come.
    void open(std::int64_t claims = 0);
    void close();
    /// Gives the number of rows dropped by overflow.
    std::size_t push(std::vector<outbox_row> rows);
    /// Something that may be pushed next.
    void expect(const outbox_row& row);
    [[nodiscard]] taken take();
    /// Under which epoch to store what comes next; zero if there is little room for it.
    [[nodiscard]] std::int64_t claims_as();

private:
    /// How many of the rows, from the first on, go in beside what is there.
    [[nodiscard]] std::size_t fitting(const std::vector<outbox_row>& rows);

    limits most_;
    bell& arrivals_;
    std::mutex mutex_;
    std::vector<outbox_row> rows_;
    std::size_t bytes_ = 0;
    bool open_ = false;
    std::int64_t claims_ = 0;
    bool overflowed_ = false;
    std::optional<outbox_row> expected_;
};

}  // namespace posthorn
