#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "base/result.hpp"

namespace posthorn {

/// How others ask the sweep for a round, where it takes messages up only when it is asked: see
/// `outbox_options::round_rows`.
///
/// Lifetime: outlives the sweep.
/// Threads:  the dispatcher's strand.
class round_call {
public:
    /// Told how many messages the round took up, once each of them has ended or is put off.
    using done_type = std::function<void(result<std::size_t> rows)>;

    void want(done_type done) { wanted_.push_back(std::move(done)); }
    /// For the sweep itself: the one that was asked for first.
    [[nodiscard]] std::optional<done_type> take() {
        if (wanted_.empty()) return std::nullopt;
        auto first = std::move(wanted_.front());
        wanted_.pop_front();
        return first;
    }

private:
    std::deque<done_type> wanted_;
};

}  // namespace posthorn
