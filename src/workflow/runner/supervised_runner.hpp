#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "workflow/runner/batch.hpp"
#include "workflow/runner/runner_link.hpp"

namespace posthorn {

/// One instance that is to go on. It may be asked for several times: a runner that was lost has kept
/// nothing, so what follows is told from the beginning (`must_be_fresh`).
struct runner_work {
    std::uint64_t key = 0;
    std::function<activation(bool must_be_fresh)> tell{};
};

struct runner_outcome {
    std::uint64_t key = 0;
    std::optional<completion> answered{};
    std::string
        fault{};  // Why its runner fell each time, if it is at fault: it is to be quarantined.
};

struct supervision {
    std::chrono::milliseconds batch_within{5'000};
};

/// Runs batches, and finds out who is at fault when the runner dies, hangs or lies (`batch_blame`).
///
/// Lifetime: one for each version; the runner is started when it is needed, and ends with this.
/// Threads:  one at a time; it blocks, but for `run_on`.
class supervised_runner {
public:
    supervised_runner(runner_starter start, const supervision& terms)
        : start_(std::move(start)), terms_(terms) {}

    /// In the order of the work. An error if no runner can be started: then it is the version that is
    /// at fault, or the machine, and no instance.
    [[nodiscard]] result<std::vector<runner_outcome>> run(std::span<const runner_work> work);
    /// The same on a thread that may block.
    [[nodiscard]] task<result<std::vector<runner_outcome>>> run(executor& where,
                                                                std::vector<runner_work> work);

    /// Its frame is not needed any more; the runner hears of it with the next batch.
    void release(std::uint64_t key);
    [[nodiscard]] bool has_frame(std::uint64_t key) const { return kept_.contains(key); }
    [[nodiscard]] std::size_t starts() const noexcept { return starts_; }

private:
    [[nodiscard]] result<> be_ready();
    [[nodiscard]] result<std::vector<completion>> ask(std::span<const runner_work* const> some);
    void note(const completion& one);
    void lose();

    runner_starter start_;
    supervision terms_;
    std::unique_ptr<runner_link> runner_;
    name_pool names_;  // Steps are about names in it for as long as this lives.
    std::unordered_set<std::uint64_t> kept_;  // Keys of frames that the runner has.
    std::vector<std::uint64_t> released_;
    std::size_t starts_ = 0;
};

}  // namespace posthorn
