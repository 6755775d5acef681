#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "engine/steps/engine_report.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Ends the process when the code of a workflow runs on without waiting for anything: a thread
/// cannot be stopped, and all other workflows wait for it. That one is quarantined first, so that
/// the next start goes on without it.
///
/// Lifetime: `run()` once, destroyed after it returned; the rest outlives it.
/// Threads:  the executor that `run()` is on.
/// Cancel:   returns at once.
class code_watch final : public node_service {
public:
    using fail_stop = std::function<void(const std::string& why)>;

    code_watch(const environment& env, store& where, const engine_report& report,
               std::chrono::milliseconds limit, fail_stop end)
        : env_(env), where_(where), report_(report), limit_(limit), end_(std::move(end)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "workflow code watch"; }
    task<> run() override;

private:
    const environment& env_;
    store& where_;
    const engine_report& report_;
    std::chrono::milliseconds limit_;
    fail_stop end_;
};

}  // namespace posthorn
