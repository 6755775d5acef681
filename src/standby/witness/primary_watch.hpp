#pragma once

#include <chrono>
#include <optional>

#include "base/time/clock.hpp"
#include "standby/witness/witness_entry.hpp"

namespace posthorn::standby {

/// What a primary with a witness may do at a moment.
enum class primary_may : std::uint8_t {
    with_standby,  // Answer what the standby has answered.
    alone,         // Answer without it: the witness lets no standby take our place.
    wait,          // Answer nothing: another may have taken our place, or take it soon.
    stop,          // Another is the primary.
};

[[nodiscard]] std::string_view to_string(primary_may what);

struct witness_timing {
    std::chrono::nanoseconds lease{};
    std::chrono::nanoseconds every{};  // How often the witness is asked.
};

/// Who a node is, to its witness. It keeps this on its disk.
struct witness_identity {
    stream_id stream{};
    witness_name node{};
    std::uint64_t epoch = 0;
    std::optional<witness_name> witness{};  // The one that it knows; another one is not believed.
    std::uint64_t version = 0;              // The highest that it has heard from it.
    std::uint32_t starts = 0;               // Of this node, this one included.
};

/// What a primary knows of its standby and its witness, and what follows.
///
/// | an answer is younger than a lease | what the witness may hold | then |
/// |---|---|---|
/// | of the witness | not in sync, surely | alone |
/// | of the standby | anything else | with_standby |
/// | of the witness alone | in sync, or it is not sure | wait |
/// | of neither | anything | wait |
/// | the witness or the standby told of another primary | | stop |
///
/// An answer is as old as the question. It has no clock and no network of its own.
///
/// Threads: one at a time.
class primary_watch {
public:
    primary_watch(const witness_identity& self, const witness_timing& timing, bool may_go_alone)
        : self_(self),
          timing_(timing),
          may_go_alone_(may_go_alone),
          turn_(std::uint64_t{self.starts} << 32U) {}

    /// The standby has answered a question of that moment.
    void standby_answered(steady_time asked_at) { standby_at_ = later(standby_at_, asked_at); }
    /// Whether it has all that was answered, and every commit waits for it.
    void standby_has_all(bool has) { has_all_ = has; }
    /// It says that there is a newer epoch.
    void standby_refuses() { is_fenced_ = true; }

    /// What to ask the witness now, if anything.
    [[nodiscard]] std::optional<witness_question> next_question(steady_time now);
    /// Its answer to a question of that moment.
    void witness_answered(const witness_question& asked, const witness_answer& told,
                          steady_time asked_at);

    [[nodiscard]] primary_may may(steady_time now) const;
    /// Another witness than the one that we know answers; it was not believed.
    [[nodiscard]] bool has_met_another() const { return has_met_another_; }
    /// To be kept, so that a witness that is restored from a backup is found out.
    [[nodiscard]] const witness_identity& self() const { return self_; }

private:
    static std::optional<steady_time> later(std::optional<steady_time> one, steady_time other) {
        return one && *one > other ? one : other;
    }
    [[nodiscard]] bool is_fresh(const std::optional<steady_time>& at, steady_time now) const {
        return at && now - *at < timing_.lease;
    }

    witness_identity self_;
    witness_timing timing_;
    bool may_go_alone_;
    std::optional<steady_time> standby_at_{};
    std::optional<steady_time> witness_at_{};
    std::optional<steady_time> asked_at_{};
    std::optional<std::uint64_t> run_{};
    std::uint64_t turn_;            // Higher than any of an earlier start.
    std::uint64_t sure_since_ = 0;  // From this turn on no beat said in_sync.
    bool has_all_ = false;
    bool is_surely_alone_ = false;  // The witness holds that we are not in sync.
    bool is_fenced_ = false;
    bool has_met_another_ = false;
};

}  // namespace posthorn::standby
