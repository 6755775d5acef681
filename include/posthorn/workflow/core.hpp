#pragma once

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <posthorn/detail/time.hpp>
#include <posthorn/detail/unique_function.hpp>
#include <posthorn/transaction.hpp>
#include <posthorn/uuid.hpp>

namespace posthorn {

/// Where a workflow stands.
enum class flow_status : std::uint8_t { running, completed, failed, cancelled, quarantined };

/// What may be said of a call beyond what is called; as in `send_options`.
struct call_options {
    std::string order_key{};
    std::string tenant{};
    std::int32_t priority = 0;
    std::optional<std::int32_t> max_retries{};
    std::optional<std::chrono::milliseconds> expires_in{};
};

/// What becomes of a child that goes on when its parent ends.
enum class child_fate : std::uint8_t {
    cancel,     // It is cancelled, and undoes what it has done.
    terminate,  // It ends at once; nothing of it is undone.
    abandon     // It goes on.
};

namespace detail {

/// What a workflow asks for. Each has a number, from 1, in the order in which the code makes them.
enum class command_kind : std::uint8_t {
    call,
    wait,
    sleep,
    transact,
    run,
    patch,
    again,
    child,
    start,
    attach,
    receive,
    answer
};

/// A part of `flow_step::text`.
struct text_slice {
    std::uint32_t at = 0;
    std::uint32_t size = 0;
};

class workflow_entry;

/// One command. Names are constants of the program.
struct flow_command {
    std::uint32_t number = 0;
    command_kind kind{};
    bool exclusive = false;          // Of waits: the oldest alone gets a signal.
    std::uint32_t undoes = 0;        // The call that this one undoes.
    std::string_view destination{};  // Of calls.
    std::string_view name{};         // The endpoint of a call, the name of a signal.
    text_slice payload{};            // JSON: what is called or begun with, or which signals.
    text_slice id{};                 // Of another workflow.
    child_fate fate{};               // Of a child.
    std::uint32_t request = 0;       // Of an answer: the `receive` that got the Command.
    bool is_refusal = false;         // Of an answer.
    std::string_view undo_name{};    // What undoes this call; empty if nothing does.
    text_slice undo{};
    wall_time due{};  // Of sleeps.
    call_options options{};
    const workflow_entry* code = nullptr;  // Of what begins by it.
    unique_function<std::string(transaction&)> transact{};
    unique_function<std::string(const uuid& key)> run{};
};

/// What wakes a workflow. Every one but `start` and `cancel` is about a command.
enum class event_kind : std::uint8_t {
    start,      // The payload is the JSON array of arguments.
    answered,   // A call; the payload is its response.
    died,       // A call was given up; the payload says why.
    signalled,  // A signal, or a Command to be answered.
    elapsed,    // A sleep.
    done,       // `transact` or `run`; the payload is its result.
    refused,    // One of these, for good; the payload says why.
    cancel,     // The payload is the reason.
    returned,   // A child, or one that is attached; the payload is its result.
    failed,     // It failed, or could not be begun; the payload says why.
    stopped     // It was cancelled; the payload says why.
};

struct flow_event {
    event_kind kind{};
    std::uint32_t command = 0;
    bool may_have_taken_effect = true;  // Of `died`.
    wall_time at{};
    std::string payload{};
    std::string state{};  // Of `start`: what the run before has left.
};

/// What the code did on one event. Used again for the next, so that nothing is allocated.
struct flow_step {
    std::string text{};  // What the slices are of.
    std::vector<flow_command> commands{};
    std::vector<std::uint32_t> dropped{};  // Waits and sleeps that nothing waits for any more.
    std::optional<text_slice> state{};     // If it changed.
    flow_status status = flow_status::running;
    std::string result{};  // JSON if completed, otherwise why.
    std::vector<std::string> log{};
    bool has_left = false;  // The code has come to its end; there may be something to undo.

    [[nodiscard]] std::string_view of(text_slice part) const noexcept {
        return std::string_view(text).substr(part.at, part.size);
    }
    /// The command that ends this run and begins another one; null if there is none.
    [[nodiscard]] const flow_command* next_run() const noexcept;
    void clear();
};

/// Which patches the record of a step names, for code that repeats it.
using recorded_patches = std::vector<std::string>;

/// Whether an event was for this frame.
enum class event_fit : std::uint8_t {
    taken,
    ignored,  // Nothing waits for it any more.
    unfit,    // A signal that is not what its contract says; the wait goes on.
    stale     // It is about a command that this frame has not made: another one is newer.
};

/// The longest that a workflow sleeps: to the end of the year 9999.
[[nodiscard]] wall_time later(wall_time than, std::chrono::milliseconds by) noexcept;
[[noreturn]] void fail_arguments(std::size_t given, std::size_t wanted);

/// Which Command an answer is to.
struct answered_request {
    std::uint32_t request = 0;
    std::string_view endpoint;  // A constant.
    bool is_refusal = false;
};

/// A signal that some workflow of this program waits for, or a Command that one receives. Filled before `main`, and only read later.
class awaited_signal {
public:
    /// The name is a constant.
    explicit awaited_signal(std::string_view name, bool is_command = false) noexcept
        : name_(name), is_command_(is_command), next_(std::exchange(first(), this)) {}
    awaited_signal(const awaited_signal&) = delete;
    awaited_signal& operator=(const awaited_signal&) = delete;
    ~awaited_signal() = default;

    [[nodiscard]] static const awaited_signal*& first() noexcept;
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] bool is_command() const noexcept { return is_command_; }
    [[nodiscard]] const awaited_signal* next() const noexcept { return next_; }

private:
    std::string_view name_;
    bool is_command_;
    const awaited_signal* next_;
};

class flow_base;

/// How many of some handles must be ready before the code goes on.
struct pending_group {
    std::uint32_t needed = 1;
    std::uint32_t failures_allowed = 0;
    std::uint32_t arrived = 0;
    std::uint32_t failures = 0;

    [[nodiscard]] bool is_met() const noexcept {
        return arrived >= needed || failures > failures_allowed;
    }
};

/// A command's other end, which lives in the workflow's frame. The flow knows where it is, so it
/// can be moved; when it dies, a wait or a sleep ends with it.
class pending_base {
public:
    /// Throws if a payload is not what is waited for.
    using checker = void (*)(std::string_view payload);

    pending_base(flow_base& in, std::uint32_t number, command_kind kind, checker check = nullptr);
    pending_base(pending_base&& other) noexcept;
    pending_base& operator=(pending_base&& other) noexcept;
    pending_base(const pending_base&) = delete;
    pending_base& operator=(const pending_base&) = delete;
    ~pending_base();

    [[nodiscard]] bool is_ready() const noexcept { return arrived_ != 0; }
    [[nodiscard]] bool has_failed() const noexcept { return is_ready() && has_failed_; }
    /// The how-manieth to be ready, so that of several the first is known.
    [[nodiscard]] std::uint32_t arrived() const noexcept { return arrived_; }
    [[nodiscard]] flow_base& flow() const noexcept { return *in_; }
    void join(pending_group& group) noexcept;
    void leave() noexcept { group_ = nullptr; }

protected:
    /// Throws what came in place of a value.
    void throw_failure(std::string_view endpoint) const;
    [[nodiscard]] const std::string& payload() const noexcept { return payload_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] flow_command& command() const;

private:
    friend class flow_base;
    void unlink() noexcept;

    flow_base* in_;
    pending_group* group_ = nullptr;
    checker check_;
    std::uint32_t number_;
    std::uint32_t arrived_ = 0;  // Zero until it is ready.
    command_kind kind_;
    bool has_failed_ = false;
    bool may_have_taken_effect_ = true;
    bool was_stopped_ = false;
    std::string payload_;
};

/// One run of a workflow: its frame, what it waits for, and what it has asked for. Pure: it is fed
/// with events and tells what the code did.
///
/// Lifetime: begun once, then fed; the step that is given lives for that call. The frame holds
///           references to it, so it stays where it is.
/// Threads:  one at a time.
class flow_base {
public:
    explicit flow_base(const uuid& run) noexcept;
    flow_base(const flow_base&) = delete;
    flow_base& operator=(const flow_base&) = delete;
    virtual ~flow_base();

    /// Runs the code until it waits. Events that are not `taken` change nothing; of an `unfit` one
    /// the step's result says why.
    /// `recorded` is what the record of a step says of patches, if the step is repeated.
    [[nodiscard]] event_fit feed(flow_event event, flow_step& into,
                                 const recorded_patches* recorded = nullptr);
    /// As in a run that had passed by before the code had this patch.
    void leave_unpatched(std::string_view name) { patches_.push_back({std::string(name), false}); }

    [[nodiscard]] std::uint32_t commands() const noexcept { return issued_; }
    [[nodiscard]] flow_status status() const noexcept { return status_; }
    [[nodiscard]] const uuid& run_id() const noexcept { return run_; }
    /// What it holds in memory, for a cache's limit.
    [[nodiscard]] std::size_t bytes() const noexcept;

    // What handles, awaitables and the promise call.
    flow_command& issue(command_kind kind, std::string_view name);
    [[nodiscard]] flow_step& step() noexcept { return *step_; }
    void note_undo(std::uint32_t of, std::string_view name);
    void suspend(pending_group& until) noexcept { until_ = &until; }
    [[nodiscard]] bool is_cancelled() const noexcept { return is_cancelled_; }
    [[noreturn]] void throw_cancelled() const;
    void complete(std::string_view result);
    /// Each request once.
    void answer(const answered_request& what, std::string_view payload);
    /// The code goes no further: another run takes its place.
    void end_run(const workflow_entry& next, std::string_view arguments);
    void leave_by_exception() noexcept;
    void note_frame(std::size_t bytes);

    [[nodiscard]] wall_time step_time() const noexcept { return now_; }
    [[nodiscard]] std::uint64_t next_random() noexcept;
    void write_log(std::string_view text);
    /// The name is a constant.
    [[nodiscard]] bool has_patch(std::string_view name);

protected:
    /// Makes the coroutine, which waits to be resumed.
    virtual std::coroutine_handle<> make_frame(std::string_view arguments) = 0;
    virtual void encode_state(std::string& to) const = 0;
    /// Throws if it is none of this workflow.
    virtual void decode_state(std::string_view from) = 0;
    /// Before the state goes, which the frame may look at.
    void destroy_frame() noexcept;

private:
    friend class pending_base;
    struct undo_note {
        std::uint32_t call = 0;
        std::string_view destination;
        std::string_view name;
        std::string payload;
        call_options options;
    };

    struct patch_note {
        std::string name;
        bool is_there = false;
    };

    [[nodiscard]] pending_base* find(std::uint32_t command) const noexcept;
    [[nodiscard]] undo_note* undo_of(std::uint32_t command) noexcept;
    [[nodiscard]] event_fit fit_of(const flow_event& event, flow_step& into);
    void deliver(flow_event event);
    void go_on();
    void end_code();
    void undo_next();
    void take_undo_event(const flow_event& event);
    void begin(const flow_event& event);
    void look_at_state();
    void quarantine(std::string why);

    uuid run_;
    std::coroutine_handle<> frame_;
    flow_step* step_ = nullptr;
    pending_group* until_ = nullptr;
    std::vector<pending_base*>
        handles_;  // By number, from `first_handle_`; null once they are gone.
    std::vector<undo_note> undos_;
    std::vector<std::uint32_t> unanswered_;  // Requests.
    std::vector<patch_note> patches_;  // That the code has asked for: it hears the same again.
    const recorded_patches* recorded_ = nullptr;  // Of a step that is repeated.
    std::uint32_t first_handle_ = 1;
    std::uint32_t live_handles_ = 0;
    std::uint32_t issued_ = 0;
    std::uint32_t arrivals_ = 0;
    std::uint32_t undoing_ = 0;  // The command that undoes a call now.
    std::uint64_t random_state_;
    std::int64_t state_sum_ = 0;
    std::size_t frame_bytes_ = 0;
    wall_time now_{};
    flow_status status_ = flow_status::running;
    bool is_begun_ = false;
    bool is_cancelled_ = false;
    bool has_next_run_ = false;
    std::string reason_;
    flow_status leaves_as_ = flow_status::running;  // How the code ended.
};

}  // namespace detail
}  // namespace posthorn
