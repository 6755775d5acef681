#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace posthorn::test {

/// One run of a harness: how much it does, how far it is, and what it has seen.
///
///     for (proof_run run("kill", {.rounds = 50}); run.goes_on(); run.advance()) {
///         ... all that happens is drawn from run.seed() ...
///         run.count("messages", committed);
///     }
///
/// `./test` does what the harness itself says. `./test proof` asks for other sizes through the
/// environment: at most POSTHORN_PROOF_ROUNDS rounds and POSTHORN_PROOF_SECONDS, with seeds from
/// POSTHORN_PROOF_SEED on; and reads what POSTHORN_PROOF_REPORT then holds, a line of JSON each
/// time.
///
/// Lifetime: reports its end when it is destroyed.
/// Threads:  one.
class proof_run {
public:
    struct size {
        std::uint64_t rounds = 0;
        std::chrono::seconds limit = std::chrono::seconds::max();
        std::uint64_t first_seed = 1;
    };

    proof_run(std::string harness, size small);
    ~proof_run();
    proof_run(const proof_run&) = delete;
    proof_run& operator=(const proof_run&) = delete;

    /// Whether there is another round to do, and time for it. At least one is done.
    [[nodiscard]] bool goes_on() const;
    /// So many rounds are done.
    void advance(std::uint64_t rounds = 1);
    /// Of this round.
    [[nodiscard]] std::uint64_t seed() const noexcept { return size_.first_seed + done_; }
    [[nodiscard]] std::uint64_t done() const noexcept { return done_; }
    [[nodiscard]] std::uint64_t rounds() const noexcept { return size_.rounds; }
    /// Adds to what the summary tells, such as messages or kills.
    void count(const std::string& what, std::uint64_t by = 1) { counts_[what] += by; }

private:
    using steady = std::chrono::steady_clock;

    void report(bool ended);

    std::string harness_;
    size size_;
    std::string file_;  // Empty: nobody reads it.
    std::uint64_t done_ = 0;
    std::map<std::string, std::uint64_t> counts_;
    steady::time_point begun_ = steady::now();
    steady::time_point reported_{};
};

}  // namespace posthorn::test
