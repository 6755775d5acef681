#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/flow_test.hpp>

#include "workflow/history.hpp"

/// A workflow's surroundings in memory, for `flow_test`.
namespace posthorn::detail {

/// What the test told the workflow, so that it can be told again.
struct test_input {
    enum class kind : std::uint8_t { answer, signal, request, advance, cancel };
    kind what{};
    std::string name{};     // Of the call or the signal.
    std::string payload{};  // Of the call or the signal; why it is cancelled.
    std::string id{};       // Of another workflow.
    command_kind to_kind{};
    flow_event event{};  // Of the answer.
    std::chrono::milliseconds time{};
    std::size_t request = 0;  // The number of a Command that it is told.
};

/// What goes wrong around one event.
struct trouble {
    bool commit_fails = false;  // Its step is lost, and the event comes again.
    bool crashes_after = false;
    bool comes_twice = false;
};

/// The workflow under test, and the patches that its run had passed by before.
struct tested_code {
    const workflow_entry* entry = nullptr;
    std::span<const std::string> unpatched{};
    std::size_t run = 1;
};

[[nodiscard]] uuid test_run_id(std::size_t run);
/// The run that rows tell of; each of its steps has to come out as it was.
[[nodiscard]] std::unique_ptr<flow_base> built_from(const tested_code& code,
                                                    std::span<const std::string> rows);

/// One run of the workflow and all that an engine keeps of it.
class flow_world {
public:
    struct open_command {
        std::string name;
        std::string payload;
        std::string id;  // Of another workflow.
        flow_command made;
        bool is_expected = false;
    };
    struct told_signal {
        std::string name;
        std::string payload;
        std::size_t request = 0;  // Of a Command, which is to be answered.
    };
    struct given_answer {
        std::string payload;  // Or why it was refused.
        bool is_refusal = false;
    };

    explicit flow_world(const tested_code& code) : code_(code), frame_(built_from(code, {})) {}

    /// One event, and then what can happen by itself.
    void take(flow_event event, const trouble& with = {});
    void advance_to(wall_time until);
    void tell(told_signal what, const trouble& with = {});

    /// The command that an answer is for; zero if it is not open.
    [[nodiscard]] std::uint32_t open_for(const test_input& answer) const;
    [[nodiscard]] open_command* find(const auto& is_meant) {
        for (auto& [number, command] : open)
            if (!command.is_expected && is_meant(command)) return &command;
        return nullptr;
    }
    [[nodiscard]] const tested_code& code() const noexcept { return code_; }

    std::vector<std::string> rows;
    std::map<std::uint32_t, open_command> open;
    std::vector<told_signal> unclaimed;
    std::map<std::size_t, given_answer> answers;  // By the number of the request.
    std::vector<std::string> started;  // `Ship s1`, for each workflow that `start` began.
    std::vector<std::string> fates;    // `cancel Ship s1`, for each child that was left.
    std::vector<std::string> log;
    wall_time now{std::chrono::milliseconds{1'767'225'600'000}};  // 2026-01-01
    flow_status status = flow_status::running;
    std::string result;
    std::string state;

private:
    void take_alone(flow_event event, const trouble& with);
    void begin_next_run();
    void commit(const flow_event& event);
    void note_requests(const flow_event& event);
    void leave_requests();
    void leave_children();
    void settle(trouble with);
    [[nodiscard]] std::optional<flow_event> next_by_itself();
    [[nodiscard]] std::uint32_t waiting_for(const told_signal& signal) const;
    [[nodiscard]] const flow_command* next_due() const;

    tested_code code_;
    std::unique_ptr<flow_base> frame_;
    flow_step step_;
    std::map<std::string, child_fate> children_;  // `Ship s1`: those that go on.
    told_signal given_;                           // The last one.
    std::map<std::uint32_t, told_signal> unanswered_;
    std::optional<flow_event> next_start_;  // Of the run that follows.
    std::size_t steps_ = 0;                 // Of all runs.
};

}  // namespace posthorn::detail
