#pragma once

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "operations/dead_requests.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What operators ask of the messages that were given up, through the admin endpoints of a running
/// node or the command line on the file. What blocks runs on `readers`; a caller with a dispatcher
/// wakes it after a change.

/// Where to ask, and when.
struct dead_place {
    store& where;  // Outlives the run.
    executor& readers;
    wall_time now{};
};

task<result<dead_page>> list_dead(dead_place at, dead_query asked);
/// Those not grouped yet are grouped first, some thousands of them at a time.
task<result<dead_groups>> group_dead(dead_place at, dead_query asked);

struct dead_view {
    dead_letter_row row;
    message_detail detail;
};
/// Any message with every attempt, whatever its state is. `error_code::not_found`.
task<result<dead_view>> show_dead(dead_place at, uuid id, bool with_payload);

/// One message, in one unit: an edit and the requeue after it happen together or not at all.
task<result<dead_changed>> change_dead(dead_place at, uuid id, dead_request asked);

/// What became of one slice of many.
struct dead_progress {
    dead_many done{};
    std::int64_t next = 0;     // Where the next slice begins; zero: there is none.
    std::int64_t lowest = 0;   // Where this one began,
    std::int64_t highest = 0;  // and where the last one ends, to tell how far it is.
};
/// The next `dead_slice_rows` messages that fit, after `asked.after`, in the order of commit and in
/// one unit. A message that died again meanwhile is not met twice.
task<result<dead_progress>> change_many_dead(dead_place at, dead_query asked, dead_request how);

}  // namespace posthorn
