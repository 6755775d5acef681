#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "base/time/clock.hpp"
#include "standby/witness/witness_entry.hpp"

namespace posthorn::standby {

/// What a witness keeps on its disk.
struct witness_state {
    witness_name name{};
    std::uint64_t version = 0;
    bool is_stale = false;
    std::vector<witness_entry> entries{};

    bool operator==(const witness_state&) const = default;
};

/// Says who is the primary. It has no clock and no disk of its own.
///
/// | the question | is answered |
/// |---|---|
/// | any, by who has heard of a higher version | stale, from then on and for all |
/// | any but a look, within a lease of the start | early; a newer epoch of a beat is taken down |
/// | any but a look, for another run | another_run |
/// | beat, of no known database | granted, and taken down |
/// | beat, of an older epoch, or of this one by another | fenced |
/// | beat, of a newer epoch: it was promoted by hand | taken down, and early until a lease has passed since another was granted one |
/// | beat, with a turn that is not higher than the last | old |
/// | beat, else | granted |
/// | claim, of no known database | unknown |
/// | claim, by who is the holder of the epoch after already | granted: the answer was lost |
/// | claim, of another epoch than that of now | fenced |
/// | claim, and the primary was heard since | changed |
/// | claim, and the holder is not in sync | not_in_sync |
/// | claim, else | granted: the epoch after is the asker's, and it is not in sync |
///
/// A lease is a tenth longer here than it is for the nodes, since two clocks do not run alike.
///
/// Lifetime: `save` outlives it.
/// Threads:  one at a time.
class witness_register {
public:
    struct options {
        std::chrono::nanoseconds lease{};
        std::uint64_t run = 0;  // Another one for each start.
        steady_time started_at{};
        /// What is true afterwards survives a power cut.
        std::function<result<>(const witness_state&)> save;
    };
    witness_register(witness_state kept, options how);

    /// An error is one of the disk: nothing was granted, and it is not to be asked again.
    result<witness_answer> answer(const witness_question& asked, steady_time now);
    [[nodiscard]] const witness_state& state() const { return state_; }

private:
    /// What need not survive.
    struct pulse {
        std::uint64_t beat = 0;
        std::uint64_t turn = 0;
        steady_time at{};       // Of the last beat that was granted.
        steady_time free_at{};  // Before then an earlier holder may believe that it is the primary.
    };

    [[nodiscard]] std::chrono::nanoseconds patience() const {
        return how_.lease + (how_.lease / 10);
    }
    [[nodiscard]] const witness_entry* find(const stream_id& stream) const;
    witness_verdict judge(const witness_question& asked, steady_time now, witness_state& next);
    witness_verdict judge_beat(const witness_question& asked, steady_time now, witness_entry* entry,
                               witness_state& next);
    witness_verdict judge_claim(const witness_question& asked, witness_entry* entry);

    options how_;
    witness_state state_;
    std::map<stream_id, pulse> pulses_;
};

}  // namespace posthorn::standby
