#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <posthorn/workflow/function.hpp>

#include "workflow/runner/batch.hpp"

namespace posthorn {

/// A runner's inside: the frames of instances, and what their code does on what comes for them. Pure.
///
/// Lifetime: as long as its process.
/// Threads:  one.
class flow_server {
public:
    using code_finder = const detail::workflow_entry* (*)(std::string_view name, unsigned version);

    explicit flow_server(code_finder find) noexcept : find_(find) {}

    /// One completion for each activation, in their order.
    [[nodiscard]] std::vector<completion> answer(const runner_batch& batch);
    [[nodiscard]] std::size_t frames() const noexcept { return frames_.size(); }

private:
    struct kept_frame {
        std::unique_ptr<detail::flow_base> flow;
        std::uint32_t steps = 0;
    };

    [[nodiscard]] completion answer(const activation& one);
    [[nodiscard]] completion repeat(const activation& one, kept_frame& frame);
    [[nodiscard]] completion feed(const activation& one, kept_frame& frame);

    code_finder find_;
    std::unordered_map<std::uint64_t, kept_frame> frames_;
};

}  // namespace posthorn
