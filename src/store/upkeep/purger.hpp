#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "base/async/timer.hpp"
#include "base/time/clock.hpp"
#include "store/old_rows.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Deletes old rows in slices, each a commit of its own, and rests between them.
///
/// Lifetime: what it is given outlives it.
/// Threads:  one coroutine at a time; the counters from any.
/// Cancel:   returns after the slice under way.
class purger {
public:
    purger(store& where, const clock& time, timer& sleeper, slice_options options = {});

    /// Until no such row is left. The number of those deleted.
    task<result<std::int64_t>> purge(row_kind kind, wall_time before);
    /// Ends lives of received rows that are longer than any is; their number.
    task<result<std::int64_t>> shorten_received(std::chrono::milliseconds life_max, wall_time now);
    /// Gives free pages back to the disk; their number.
    task<result<std::int64_t>> give_back();
    /// Looks through what is kept beside messages, from where the look before ended to the end, or
    /// in so many slices; the number of rows mended.
    task<result<std::int64_t>> mend_beside(std::size_t slices_max);

private:
    using work_type = std::function<result<slice_outcome>(old_rows&, const slice&)>;
    struct one_slice {
        slice_outcome done{};
        slice_seen seen{};
    };

    task<result<one_slice>> run(const work_type& work, std::size_t rows);
    task<result<std::int64_t>> repeat(work_type work, std::size_t& rows);

    store& store_;
    const clock& clock_;
    timer& timer_;
    slice_options options_;
    std::array<std::size_t, row_kinds.size()> rows_{};  // Of the next slice, by kind.
    std::size_t pages_;
};

}  // namespace posthorn
