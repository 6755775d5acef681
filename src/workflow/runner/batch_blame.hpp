#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

namespace posthorn {

/// Who of a batch is at fault when its runner dies or hangs. Pure.
///
///     a batch            answered  -> all of it is done
///     a batch            fell      -> each runs again alone, in order
///     one that fell with others, alone  answered -> done
///                                       fell     -> at fault
///     one that began alone              fell     -> runs again alone
///                                       fell     -> at fault
///
/// So none is held for what fell once, as by a machine without memory, and none that does it twice
/// takes others with it.
class batch_blame {
public:
    explicit batch_blame(std::span<const std::uint64_t> keys);

    /// Which are to run now, together; empty if all is decided.
    [[nodiscard]] std::span<const std::uint64_t> next() const noexcept;
    void answered();
    /// The runner is gone; what it had of any instance is gone with it.
    void fell();

    /// Those at fault, in the order of the batch.
    [[nodiscard]] const std::vector<std::uint64_t>& at_fault() const noexcept { return at_fault_; }
    /// How often a runner was lost.
    [[nodiscard]] std::size_t falls() const noexcept { return falls_; }

private:
    static constexpr unsigned falls_max = 2;

    std::deque<std::vector<std::uint64_t>> groups_;
    std::map<std::uint64_t, unsigned> falls_of_;
    std::vector<std::uint64_t> at_fault_;
    std::size_t falls_ = 0;
};

}  // namespace posthorn
