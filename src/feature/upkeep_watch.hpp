#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "feature/node_builder.hpp"

namespace posthorn {

/// What a feature does by itself in its tables, as long as it fails: a line of the log when it begins,
/// and a reason of health until it succeeds again.
///
/// Threads: any.
class upkeep_watch {
public:
    explicit upkeep_watch(logger& log) : log_(log) {}

    /// `what` as a sentence goes on after it: `orphans of store-and-forward cannot be closed`.
    void note(std::string_view what, const result<>& outcome) {
        const std::scoped_lock lock(mutex_);
        if (outcome) {
            failing_.erase(std::string(what));
            return;
        }
        // What is cut short because the node stops has not failed.
        const auto code = outcome.error().code();
        if (code == error_code::cancelled || code == error_code::closed) return;
        const bool is_new =
            failing_.insert_or_assign(std::string(what), outcome.error().what()).second;
        if (is_new)
            log_.warn("{What}: {Error}", {{"What", what}, {"Error", outcome.error().what()}});
    }

    [[nodiscard]] std::vector<health_worry> worries() const {
        const std::scoped_lock lock(mutex_);
        std::vector<health_worry> all;
        for (const auto& [what, why] : failing_)
            all.push_back({.what = fmt::format("{}: {}", what, why)});
        return all;
    }

private:
    logger& log_;
    mutable std::mutex mutex_;
    std::map<std::string, std::string> failing_;
};

}  // namespace posthorn
