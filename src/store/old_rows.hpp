#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "store/slices.hpp"

namespace posthorn {

/// Rows that are kept for a time, each kind for its own.
enum class row_kind : std::uint8_t {
    sent,      // Messages, since they were delivered.
    dead,      // Since they were given up.
    expired,   // Since they expired.
    resolved,  // Since a person, or a repeated dedupe key, closed them.
    received,  // Of the inbox; they carry the end of their time themselves.
    changes,   // Of the log, since they were made.
};

inline constexpr std::array row_kinds{row_kind::sent,     row_kind::dead,     row_kind::expired,
                                      row_kind::resolved, row_kind::received, row_kind::changes};

[[nodiscard]] std::string_view to_string(row_kind kind) noexcept;

struct slice_outcome {
    std::size_t rows = 0;
    bool more = false;  // There may be more to do.
};

/// The status of messages of a kind that were closed.
[[nodiscard]] std::string_view closed_status_of(row_kind kind) noexcept;

/// Getting rid of old rows, inside a write transaction.
class old_rows {
public:
    virtual ~old_rows() = default;

    /// Deletes rows of a kind whose time, as `row_kind` says, is before `before`, oldest first and
    /// with all that belongs to them, as many as the slice has room for.
    virtual result<slice_outcome> purge(row_kind kind, wall_time before, const slice& room) = 0;
    /// Of the inbox: lets rows that would be kept for longer after they were processed than any is,
    /// be kept for `life_max` from then. A program's own SQL wrote them, or a sender that says no
    /// time of making. Of a row that was never processed all of its time is over.
    virtual result<slice_outcome> shorten_received(std::chrono::milliseconds life_max,
                                                   wall_time now, const slice& room) = 0;
    /// Gives pages that hold nothing back to the disk, as many as the slice has room for, but
    /// leaves some for the messages to come. Nothing where the file was not made for it.
    virtual result<slice_outcome> give_back(const slice& room) = 0;
    /// Makes what is kept beside messages tell of them again, where a program has changed it: a
    /// message without its row gets one, a row without a message goes. Looks at a part of the rows
    /// each time, and goes on from there the next, until there is no more.
    virtual result<slice_outcome> mend_beside(const slice& room) {
        static_cast<void>(room);
        return slice_outcome{};
    }
};

}  // namespace posthorn
