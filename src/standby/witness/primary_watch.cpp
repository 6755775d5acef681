#include "standby/witness/primary_watch.hpp"

#include <algorithm>

namespace posthorn::standby {

std::string_view to_string(primary_may what) {
    switch (what) {
        case primary_may::with_standby: return "with the standby";
        case primary_may::alone: return "alone";
        case primary_may::wait: return "wait";
        case primary_may::stop: break;
    }
    return "stop";
}

std::optional<witness_question> primary_watch::next_question(steady_time now) {
    if (is_fenced_ || (asked_at_ && now - *asked_at_ < timing_.every)) return std::nullopt;
    asked_at_ = now;
    witness_question asked{
        .stream = self_.stream, .from = self_.node, .epoch = self_.epoch, .version = self_.version};
    if (!run_) return asked;
    asked.what = witness_question::kind::beat;
    asked.run = *run_;
    asked.turn = ++turn_;
    // First the standby is waited for, then we say so; first we say that it is not, then we stop.
    asked.in_sync = has_all_ || !may_go_alone_;
    if (asked.in_sync) {
        is_surely_alone_ = false;  // It may arrive, whether we hear of it or not.
        sure_since_ = turn_ + 1;
    }
    return asked;
}

void primary_watch::witness_answered(const witness_question& asked, const witness_answer& told,
                                     steady_time asked_at) {
    if (self_.witness && *self_.witness != told.witness) {
        has_met_another_ = true;
        return;
    }
    self_.witness = told.witness;
    self_.version = std::max(self_.version, told.version);
    switch (told.verdict) {
        case witness_verdict::granted:
            witness_at_ = later(witness_at_, asked_at);
            // Beats are taken in their order, so that none before this one comes after it.
            if (!asked.in_sync && asked.turn >= sure_since_) is_surely_alone_ = true;
            return;
        case witness_verdict::fenced: is_fenced_ = true; return;
        case witness_verdict::told:
        case witness_verdict::another_run:
            if (run_ != told.run) {
                is_surely_alone_ = false;
                asked_at_.reset();  // Now a beat can be told.
            }
            run_ = told.run;
            if (told.entry.stream == self_.stream && told.entry.epoch > self_.epoch)
                is_fenced_ = true;
            return;
        case witness_verdict::early:
        case witness_verdict::old:
        case witness_verdict::changed:
        case witness_verdict::not_in_sync:
        case witness_verdict::unknown:
        case witness_verdict::stale: return;
    }
}

primary_may primary_watch::may(steady_time now) const {
    if (is_fenced_) return primary_may::stop;
    if (is_fresh(witness_at_, now) && is_surely_alone_) return primary_may::alone;
    if (is_fresh(standby_at_, now)) return primary_may::with_standby;
    return primary_may::wait;
}

}  // namespace posthorn::standby
