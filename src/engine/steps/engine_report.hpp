#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "feature/node_builder.hpp"

namespace posthorn {

/// Workflows that are open, as of the last look.
struct open_workflows {
    std::string workflow{};
    std::int64_t version = 0;
    std::string status{};
    std::int64_t count = 0;
};

/// A workflow whose code runs.
struct running_workflow {
    std::int64_t instance = 0;
    std::string name{};  // And its id.
    std::chrono::nanoseconds age{};
};

/// What health and metrics say of workflows.
///
/// Threads: any.
class engine_report {
public:
    explicit engine_report(const clock& time) : time_(time) {}

    /// Looks at all open instances; `has_code` says whether one of such a name and version can run.
    void look_over(store& where, const std::function<bool(const instance_row&)>& has_code);
    [[nodiscard]] std::vector<open_workflows> open() const;
    /// Whether the last look has found instances of this name and version without code.
    [[nodiscard]] bool knows_missing(const instance_row& of) const;

    /// A step or a work of it failed, and is tried again.
    void note_trouble(const instance_row& of, std::string_view why);
    void forget_trouble(std::int64_t instance);

    /// Something that no one workflow is to blame for keeps them from going on; `what` names it.
    void note_obstacle(std::string_view what, std::string why);
    void forget_obstacle(std::string_view what);

    /// Its code runs from now on, until `code_waits`.
    void code_runs(const instance_row& of);
    void code_waits();
    [[nodiscard]] std::optional<running_workflow> running() const;

    /// Of a node that runs workflows, or of one that only has their database.
    [[nodiscard]] std::vector<health_worry> worries(bool is_hosting) const;

private:
    struct missing_code {
        std::string workflow;
        std::int64_t version = 0;
        std::int64_t open = 0;
        std::string ids{};  // Some of them.
    };

    [[nodiscard]] const missing_code* find_missing(const instance_row& of) const;

    const clock& time_;
    mutable std::mutex mutex_;
    std::vector<open_workflows> open_;
    std::vector<missing_code> missing_;
    std::int64_t held_ = 0;  // In quarantine.
    std::map<std::int64_t, std::string> troubled_;
    std::map<std::string, std::string, std::less<>> obstacles_;
    std::int64_t running_instance_ = 0;
    std::string running_;
    std::optional<steady_time> running_since_;
};

}  // namespace posthorn
