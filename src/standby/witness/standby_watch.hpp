#pragma once

#include "standby/witness/primary_watch.hpp"

namespace posthorn::standby {

/// What a standby with a witness knows of its primary, and when it may take its place.
///
/// It asks for that when all of this holds: its copy is whole; nothing has come from the primary for
/// a lease and a tenth; the witness has told the same beat for as long; by the witness the primary
/// is of our epoch and in sync. From then on it answers no frame, until the witness has refused.
/// Granted, it waits until a lease and a tenth have passed since it answered the primary last: that
/// may believe in the answer until then. It has no clock and no network of its own.
///
/// Threads: one at a time.
class standby_watch {
public:
    /// An earlier process may have answered the primary until the moment that this one starts.
    standby_watch(const witness_identity& self, const witness_timing& timing,
                  steady_time started_at)
        : self_(self), timing_(timing), heard_at_(started_at) {}

    /// Something has come from the primary and was answered.
    void heard_primary(steady_time now) { heard_at_ = now; }
    void copy_is_whole(bool whole) { is_whole_ = whole; }

    /// What to ask the witness now, if anything.
    [[nodiscard]] std::optional<witness_question> next_question(steady_time now);
    void witness_answered(const witness_question& asked, const witness_answer& told,
                          steady_time now);

    /// Whether what comes from the primary may be answered.
    [[nodiscard]] bool may_answer() const { return !is_claiming_ && !is_holder_; }
    /// We are to be the primary now, of the epoch after ours.
    [[nodiscard]] bool is_granted(steady_time now) const {
        return is_holder_ && now - heard_at_ >= patience();
    }
    /// Another witness than the one that we know answers; it was not believed.
    [[nodiscard]] bool has_met_another() const { return has_met_another_; }
    /// To be kept.
    [[nodiscard]] const witness_identity& self() const { return self_; }

private:
    /// What the witness has told without a change.
    struct still {
        std::uint64_t run = 0;
        std::uint64_t beat = 0;
        bool in_sync = false;
        steady_time since{};  // When it was first told,
        steady_time until{};  // and last.
    };
    [[nodiscard]] std::chrono::nanoseconds patience() const {
        return timing_.lease + (timing_.lease / 10);  // Two clocks do not run alike.
    }
    [[nodiscard]] bool may_claim(steady_time now) const;

    witness_identity self_;
    witness_timing timing_;
    steady_time heard_at_;
    std::optional<steady_time> asked_at_{};
    std::optional<still> seen_{};
    bool is_whole_ = false;
    bool is_claiming_ = false;
    bool is_holder_ = false;
    bool has_met_another_ = false;
};

}  // namespace posthorn::standby
