#include "store/upkeep/disk_keeper.hpp"

#include <utility>

namespace posthorn {

disk_keeper::disk_keeper(std::unique_ptr<disk_space> space, disk_limits limits, logger& log)
    : space_(std::move(space)), limits_(limits), log_(log) {}

result<> disk_keeper::require_room() {
    if (may_grow(state_.load(std::memory_order_relaxed))) return {};
    ++refused_;
    return fail(error_code::store_full, "{}", describe(report()));
}

void disk_keeper::units_refused(std::uint64_t count) {
    const std::uint64_t all = refused_;
    const auto ours = all - std::exchange(refused_before_, all);
    if (!space_ || count <= ours) return;
    const std::scoped_lock lock(mutex_);
    apply({.free = space_->free(), .has_ballast = space_->has_ballast(), .commit_refused = true});
}

void disk_keeper::look() {
    if (!space_) return;
    const std::scoped_lock lock(mutex_);
    apply({.free = space_->free(), .has_ballast = space_->has_ballast()});
}

void disk_keeper::apply(const disk_facts& seen) {
    const auto before = state_.load();
    const auto [now, what] = judge_disk(before, seen, limits_);
    seen_ = seen;
    switch (what) {
        case disk_step::act::none: break;
        case disk_step::act::give_up_ballast:
            space_->drop_ballast();
            seen_.has_ballast = false;
            break;
        case disk_step::act::make_ballast: {
            const auto made = space_->make_ballast(limits_.ballast);
            seen_.has_ballast = made.has_value();
            if (!made && !std::exchange(ballast_failed_, true))
                log_.warn("Store: no ballast file, so a full disk leaves no room to drain: {Error}",
                          {{"Error", made.error().what()}});
            break;
        }
    }
    state_ = now;
    tell(before, now);
}

void disk_keeper::tell(disk_state before, disk_state now) {
    if (before == now) return;
    const disk_report seen{
        .state = now, .free = seen_.free, .has_ballast = seen_.has_ballast, .limits = limits_};
    if (now == disk_state::enough)
        log_.info("Store: the disk has room again");
    else if (may_grow(now))
        log_.warn("Store: {Reason}", {{"Reason", describe(seen)}});
    else
        log_.error("Store: {Reason}", {{"Reason", describe(seen)}});
}

disk_report disk_keeper::report() const {
    const std::scoped_lock lock(mutex_);
    return {.state = state_,
            .free = seen_.free,
            .has_ballast = seen_.has_ballast,
            .refused = refused_,
            .limits = limits_};
}

}  // namespace posthorn
