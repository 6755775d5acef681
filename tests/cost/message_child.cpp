// Sends messages through a quiet pair and prints what each of them cost, a number a line.
//
//   cost_message count TOGETHER ROUNDS FOLDER    allocations, statements, syncs, bytes
//   cost_message wait 1 1 FOLDER                 virtual milliseconds until the effect, and syncs
//   cost_message run TOGETHER ROUNDS FOLDER      nothing but the work, for callgrind to count
//
// A fifth word says whether the nodes could trace: off, or on.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT
#endif

#include "cost/quiet_pair.hpp"
#include "cost/spending.hpp"

namespace {

constexpr int rounds_before = 5;  // Statements are prepared and tables have grown by then.

int tell_waits(posthorn::cost::quiet_pair& pair) {
    using namespace posthorn::cost;
    const auto syncs_of_write = [&](bool with_message) {
        const auto before = spent();
        pair.write(with_message);
        return (spent() - before).syncs;
    };
    pair.send(1);
    fmt::print("own_ms {}\n", pair.waited().count());
    pair.send_from_another_handle();
    fmt::print("foreign_ms {}\n", pair.waited().count());
    fmt::print("syncs_alone {}\n", syncs_of_write(false));
    fmt::print("syncs_with_message {}\n", syncs_of_write(true));
    pair.send(1);  // What was written is sent, too.
    return 0;
}

}  // namespace

int main(int count, char** words) {
    using namespace posthorn::cost;
    if (count != 5 && count != 6) return 2;
    const std::string_view traced = count == 6 ? words[5] : "none";
    const auto how = traced == "on"    ? tracing_kind::on
                     : traced == "off" ? tracing_kind::off
                                       : tracing_kind::none;
    const bool waits = std::string_view(words[1]) == "wait";
    const bool counts = std::string_view(words[1]) == "count";
    const auto together = std::strtoul(words[2], nullptr, 10);
    const auto rounds = std::strtoul(words[3], nullptr, 10);
    if (counts || waits) watch_spending();
    quiet_pair pair(words[4], how);
    for (int i = 0; i < rounds_before; ++i) pair.send(together);
    if (waits) return tell_waits(pair);
    const auto reads_before = pair.clock_reads();
    const auto before = spent();
    CALLGRIND_TOGGLE_COLLECT;
    for (unsigned long i = 0; i < rounds; ++i) pair.send(together);
    CALLGRIND_TOGGLE_COLLECT;
    const auto used = spent() - before;
    const auto each = [&](std::int64_t sum) {
        return static_cast<double>(sum) / static_cast<double>(together * rounds);
    };
    if (counts)
        fmt::print(
            "allocations {:.2f}\nstatements {:.3f}\nsteps {:.1f}\nsyncs {:.4f}\nwrites {:.3f}\n"
            "bytes {:.0f}\ntrace_clock_reads {:.2f}\n",
            each(used.allocations), each(used.statements), each(used.steps), each(used.syncs),
            each(used.writes), each(used.bytes_written), each(pair.clock_reads() - reads_before));
    return 0;
}
