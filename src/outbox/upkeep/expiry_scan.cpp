#include "outbox/upkeep/expiry_scan.hpp"

#include <algorithm>
#include <utility>

#include "base/async/cancellation.hpp"
#include "store/async.hpp"

namespace posthorn {

task<> expiry_scan::run() {
    while (co_await with_.env.timer.sleep_for(with_.options.expiry.interval)) {
        // Expired is for ever, and a clock that has jumped may jump back.
        if (with_.clocks.jumped()) continue;
        if (auto seen = co_await go_round(); !seen)
            with_.env.log.warn(
                "Outbox: the look for expired messages failed, will try again: {Error}",
                {{"Error", seen.error().what()}});
    }
}

task<result<>> expiry_scan::go_round() {
    auto behind = with_.lanes.behind();
    std::erase_if(places_, [&](const auto& place) {
        return !std::ranges::binary_search(behind, place.first);
    });
    // Goes on after the last one, so that those with many rows leave time for the others.
    std::ranges::rotate(behind, std::ranges::upper_bound(behind, last_));
    auto slices_left = with_.options.expiry.slices_max;
    for (const auto& destination : behind) {
        if (slices_left == 0 || co_await is_cancelled()) break;
        last_ = destination;
        POSTHORN_CO_TRY(co_await look_at(destination, slices_left));
    }
    co_return result<>{};
}

// All lanes share the writer and the memory.
task<bool> expiry_scan::has_settled(const std::string& destination) {
    constexpr std::chrono::milliseconds pause{20};
    for (auto left = with_.options.expiry.interval; left > pause; left -= pause) {
        if (with_.lanes.get(destination).rows_held() <= with_.options.expiry.unsettled_max)
            co_return true;
        if (!co_await with_.env.timer.sleep_for(pause)) break;
    }
    co_return false;
}

task<result<>> expiry_scan::look_at(const std::string& destination, std::size_t& slices_left) {
    auto place = places_.extract(destination);
    expired_slice slice;
    if (!place.empty()) slice.last = std::move(place.mapped());
    do {
        auto& to = with_.lanes.get(destination);
        to.begin_look();
        const expired_question asked{.destination = destination,
                                     .now = with_.env.clock.wall(),
                                     .after = std::exchange(slice.last, std::nullopt),
                                     .rows_max = with_.options.expiry.rows_max};
        auto outcome =
            co_await read(with_.where, with_.env.readers, [&](store_reader& reader) -> result<> {
                POSTHORN_LET(found, reader.outbox().expired(asked));
                slice = std::move(found);
                return {};
            });
        // A stop leaves them to the next node.
        const bool stopping = co_await is_cancelled();
        if (outcome && !stopping) to.expire(std::move(slice.rows));
        to.end_look();
        if (!outcome || stopping) co_return outcome;
    } while (--slices_left > 0 && slice.last && co_await has_settled(destination));
    if (slice.last) places_.insert_or_assign(destination, *std::move(slice.last));
    co_return result<>{};
}

}  // namespace posthorn
