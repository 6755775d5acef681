#include "standby/witness/witness_register.hpp"

#include <algorithm>
#include <utility>

namespace posthorn::standby {
namespace {

witness_entry entry_of(const witness_question& asked) {
    return {.stream = asked.stream,
            .epoch = asked.epoch,
            .holder = asked.from,
            .in_sync = asked.in_sync};
}

}  // namespace

std::string_view to_string(witness_verdict verdict) {
    switch (verdict) {
        case witness_verdict::told: return "told";
        case witness_verdict::granted: return "granted";
        case witness_verdict::early: return "early";
        case witness_verdict::another_run: return "another run";
        case witness_verdict::old: return "old";
        case witness_verdict::fenced: return "fenced";
        case witness_verdict::changed: return "changed";
        case witness_verdict::not_in_sync: return "not in sync";
        case witness_verdict::unknown: return "unknown";
        case witness_verdict::stale: break;
    }
    return "stale";
}

witness_register::witness_register(witness_state kept, options how)
    : how_(std::move(how)), state_(std::move(kept)) {}

const witness_entry* witness_register::find(const stream_id& stream) const {
    const auto found = std::ranges::find(state_.entries, stream, &witness_entry::stream);
    return found == state_.entries.end() ? nullptr : &*found;
}

result<witness_answer> witness_register::answer(const witness_question& asked, steady_time now) {
    auto next = state_;
    const auto verdict = judge(asked, now, next);
    if (next != state_) {
        ++next.version;
        POSTHORN_TRY(how_.save(next));
        state_ = std::move(next);
    }
    witness_answer told{
        .verdict = verdict, .run = how_.run, .version = state_.version, .witness = state_.name};
    if (const auto* const entry = find(asked.stream)) told.entry = *entry;
    if (const auto heart = pulses_.find(asked.stream); heart != pulses_.end())
        told.beat = heart->second.beat;
    return told;
}

witness_verdict witness_register::judge(const witness_question& asked, steady_time now,
                                        witness_state& next) {
    using kind = witness_question::kind;
    if (asked.version > state_.version) next.is_stale = true;
    if (next.is_stale) return witness_verdict::stale;
    const auto found = std::ranges::find(next.entries, asked.stream, &witness_entry::stream);
    auto* const entry = found == next.entries.end() ? nullptr : &*found;
    if (now - how_.started_at < patience()) {
        // One that is the primary already says so.
        if (asked.what == kind::beat && entry != nullptr && asked.epoch > entry->epoch)
            *entry = {.stream = asked.stream, .epoch = asked.epoch, .holder = asked.from};
        return asked.what == kind::look ? witness_verdict::told : witness_verdict::early;
    }
    if (asked.what == kind::look) return witness_verdict::told;
    if (asked.run != how_.run) return witness_verdict::another_run;
    return asked.what == kind::beat ? judge_beat(asked, now, entry, next)
                                    : judge_claim(asked, entry);
}

witness_verdict witness_register::judge_beat(const witness_question& asked, steady_time now,
                                             witness_entry* entry, witness_state& next) {
    if (entry != nullptr && asked.epoch < entry->epoch) return witness_verdict::fenced;
    auto& heart = pulses_[asked.stream];
    if (entry == nullptr) {
        entry = &next.entries.emplace_back();
    } else if (asked.epoch > entry->epoch) {
        if (heart.beat != 0 && asked.from != entry->holder) heart.free_at = heart.at + patience();
    } else {
        if (asked.from != entry->holder) return witness_verdict::fenced;
        if (asked.turn <= heart.turn) return witness_verdict::old;
    }
    *entry = entry_of(asked);
    heart.turn = asked.turn;
    if (now < heart.free_at) return witness_verdict::early;
    ++heart.beat;
    heart.at = now;
    return witness_verdict::granted;
}

witness_verdict witness_register::judge_claim(const witness_question& asked, witness_entry* entry) {
    if (entry == nullptr) return witness_verdict::unknown;
    if (entry->epoch == asked.epoch + 1 && entry->holder == asked.from)
        return witness_verdict::granted;
    if (entry->epoch != asked.epoch) return witness_verdict::fenced;
    auto& heart = pulses_[asked.stream];
    if (asked.beat != heart.beat) return witness_verdict::changed;
    if (!entry->in_sync) return witness_verdict::not_in_sync;
    ++heart.beat;
    heart.turn = 0;  // The turns of another begin anew.
    *entry = {.stream = asked.stream, .epoch = asked.epoch + 1, .holder = asked.from};
    return witness_verdict::granted;
}

}  // namespace posthorn::standby
