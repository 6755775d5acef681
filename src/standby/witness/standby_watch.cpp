#include "standby/witness/standby_watch.hpp"

#include <algorithm>

namespace posthorn::standby {

bool standby_watch::may_claim(steady_time now) const {
    if (!is_whole_ || !seen_ || !seen_->in_sync) return false;
    return now - heard_at_ >= patience() && seen_->until - seen_->since >= patience();
}

std::optional<witness_question> standby_watch::next_question(steady_time now) {
    const bool begins_claim = !is_claiming_ && may_claim(now);
    const bool is_early = asked_at_ && now - *asked_at_ < timing_.every;
    if (is_holder_ || (is_early && !begins_claim)) return std::nullopt;
    asked_at_ = now;
    witness_question asked{
        .stream = self_.stream, .from = self_.node, .epoch = self_.epoch, .version = self_.version};
    if (!seen_ || (!is_claiming_ && !begins_claim)) return asked;
    // Once it was asked for, only an answer tells what became of it.
    is_claiming_ = true;
    asked.what = witness_question::kind::claim;
    asked.run = seen_->run;
    asked.beat = seen_->beat;
    return asked;
}

void standby_watch::witness_answered(const witness_question& asked, const witness_answer& told,
                                     steady_time now) {
    if (self_.witness && *self_.witness != told.witness) {
        has_met_another_ = true;
        return;
    }
    self_.witness = told.witness;
    self_.version = std::max(self_.version, told.version);
    const bool is_ours = told.entry.stream == self_.stream;
    // Also where the answer to the claim was lost, or to one of an earlier process.
    if (is_ours && told.entry.epoch == self_.epoch + 1 && told.entry.holder == self_.node &&
        told.verdict != witness_verdict::stale) {
        is_holder_ = true;
        return;
    }
    // One that is still on the way is refused when it comes: the beat has changed, or will have.
    // Not so one that came early: no beat was granted since.
    const bool is_claim = asked.what == witness_question::kind::claim;
    if (is_claim && told.verdict != witness_verdict::early) is_claiming_ = false;
    if (!is_ours || told.entry.epoch != self_.epoch) {
        if (is_ours && told.entry.epoch > self_.epoch) is_claiming_ = false;  // Epochs only rise.
        seen_.reset();
        return;
    }
    const bool is_same = seen_ && seen_->run == told.run && seen_->beat == told.beat &&
                         seen_->in_sync == told.entry.in_sync;
    if (!is_same) seen_ = still{told.run, told.beat, told.entry.in_sync, now, now};
    seen_->until = now;
}

}  // namespace posthorn::standby
