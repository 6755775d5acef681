#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <posthorn/reply.hpp>
#include <posthorn/workflow/core.hpp>
#include <posthorn/workflow/flow.hpp>
#include <posthorn/workflow/manifest.hpp>
#include <posthorn/workflow/starting.hpp>

namespace posthorn {
namespace detail {

template <class T>
inline constexpr bool is_flow_reference = false;
template <class State>
inline constexpr bool is_flow_reference<flow<State>&> = true;

/// An argument of a workflow is stored with its start and read again after a crash.
template <class Arg>
consteval bool check_argument() {
    constexpr bool is_value =
        std::is_object_v<Arg> && !std::is_pointer_v<Arg> && !std::is_const_v<Arg>;
    static_assert(is_value,
                  "posthorn: a workflow takes its arguments by value, since they are stored and "
                  "read again after a restart; take no reference, pointer or const");
    if constexpr (is_value) {
        static_assert(json_type<Arg>,
                      "posthorn: an argument of this workflow cannot be serialised, as a view or "
                      "an undescribed class cannot; take text, numbers or a described struct");
        return json_type<Arg>;
    } else {
        return false;
    }
}

template <class State>
consteval bool check_state() {
    static_assert(json_type<State> && std::default_initializable<State>,
                  "posthorn: the state of this workflow cannot be serialised; make it a plain "
                  "aggregate or describe it with POSTHORN_STRUCT");
    return json_type<State> && std::default_initializable<State>;
}
template <class T>
inline constexpr bool has_good_state = false;
template <class State>
inline constexpr bool has_good_state<flow<State>&> = check_state<State>();

template <class First, class... Args>
consteval bool check_parameters() {
    static_assert(is_flow_reference<First>,
                  "posthorn: a workflow is a function, or a static lambda, that takes a "
                  "posthorn::flow<State>& first; a member function or another lambda would look at "
                  "an object that is gone after a restart");
    if constexpr (is_flow_reference<First>)
        return has_good_state<First> && (check_argument<Args>() && ...);
    else
        return false;
}

template <class R, class... Args>
consteval bool check_workflow() {
    static_assert(std::is_void_v<R> || json_type<R>,
                  "posthorn: what this workflow gives cannot be serialised; give nothing, or a "
                  "described type");
    static_assert(sizeof...(Args) > 0, "posthorn: a workflow takes a posthorn::flow<State>& first");
    if constexpr (sizeof...(Args) > 0)
        return check_parameters<Args...>() && (std::is_void_v<R> || json_type<R>);
    else
        return false;
}

/// Frames past this are refused: an engine keeps hundreds of thousands.
inline constexpr std::size_t frame_bytes_max = 64UL * 1024;

class flow_promise_base {
public:
    template <class State, class... Args>
    explicit flow_promise_base(flow<State>& of, const Args&...) noexcept : core_(flow_core(of)) {}

    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { core_.leave_by_exception(); }

    template <class T>
    decltype(auto) await_transform(T&& awaited) {
        static_assert(awaited_by_flow<T> || std::same_as<std::remove_cvref_t<T>, refused>,
                      "posthorn: a workflow waits only for what its flow gives, which is recorded; "
                      "anything else would not come again after a restart");
        if constexpr (awaited_by_flow<T>)
            return static_cast<std::remove_reference_t<T>&>(awaited);
        else
            return refused{};
    }

    template <class State, class... Args>
    static void* operator new(std::size_t size, flow<State>& of, const Args&...) {
        flow_core(of).note_frame(size);
        return ::operator new(size);
    }
    static void operator delete(void* frame, std::size_t size) { ::operator delete(frame, size); }

protected:
    flow_base& core_;
};

}  // namespace detail

/// What a workflow's function returns: `workflow<receipt> approve_order(flow<phase>& f, order o)`.
///
/// The function is a coroutine. It runs again from its beginning when it is rebuilt after a crash, so
/// it decides by its arguments and by what its flow gives alone.
template <class R>
class [[nodiscard("posthorn: start a workflow on a node, or in a flow_test")]] workflow {
public:
    using value_type = R;
    explicit workflow(std::coroutine_handle<> frame) noexcept : frame_(frame) {}
    workflow(workflow&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    workflow& operator=(workflow&&) = delete;
    ~workflow() {
        if (frame_) frame_.destroy();
    }

    [[nodiscard]] std::coroutine_handle<> release() noexcept { return std::exchange(frame_, {}); }

private:
    std::coroutine_handle<> frame_;
};

namespace detail {

template <class R>
class flow_promise : public flow_promise_base {
public:
    using flow_promise_base::flow_promise_base;

    workflow<R> get_return_object() noexcept {
        return workflow<R>(std::coroutine_handle<flow_promise>::from_promise(*this));
    }
    template <class Value>
        requires std::convertible_to<Value, R>
    void return_value(Value&& value) {
        core_.complete(encode<R>(std::forward<Value>(value)));
    }
};

template <>
class flow_promise<void> : public flow_promise_base {
public:
    using flow_promise_base::flow_promise_base;

    workflow<void> get_return_object() noexcept {
        return workflow<void>(std::coroutine_handle<flow_promise>::from_promise(*this));
    }
    void return_void() { core_.complete("null"); }
};

/// Of a coroutine that the compiler has refused, so that it has nothing else to say about it.
template <class R>
struct refused_promise {
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept {}
    workflow<R> get_return_object() noexcept { return workflow<R>({}); }
    refused await_transform(const auto&) { return {}; }
    void return_value(const auto&) {}
};
template <>
struct refused_promise<void> {
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept {}
    workflow<void> get_return_object() noexcept { return workflow<void>({}); }
    refused await_transform(const auto&) { return {}; }
    void return_void() {}
};

template <class R, class State, class... Args>
using workflow_function = workflow<R> (*)(flow<State>&, Args...);

/// One run of one function.
template <class R, class State, class... Args>
class flow_run final : public flow_base {
public:
    flow_run(workflow_function<R, State, Args...> code, const uuid& run)
        : flow_base(run), code_(code), flow_(*this) {}
    ~flow_run() override { destroy_frame(); }
    flow_run(const flow_run&) = delete;
    flow_run& operator=(const flow_run&) = delete;

private:
    std::coroutine_handle<> make_frame(std::string_view arguments) override {
        std::tuple<Args...> given;
        std::size_t count = 0;
        json_reader::read(arguments, [&](json_reader& all) {
            all.elements([&](json_reader& each) { decode_argument(given, count++, each); });
        });
        if (count != sizeof...(Args)) fail_arguments(count, sizeof...(Args));
        return std::apply([&](auto&... each) { return code_(flow_, std::move(each)...).release(); },
                          given);
    }
    void encode_state(std::string& to) const override { encode_to(to, flow_.state); }
    void decode_state(std::string_view from) override { flow_.state = decode<State>(from); }

    static void decode_argument(std::tuple<Args...>& given, std::size_t index, json_reader& from) {
        [&]<std::size_t... At>(std::index_sequence<At...>) {
            if (!((index == At && (decode_value(from, std::get<At>(given)), true)) || ...))
                from.skip();
        }(std::index_sequence_for<Args...>{});
    }

    workflow_function<R, State, Args...> code_;
    flow<State> flow_;
};

/// What a program says of a function: its name and version, and how a run of it is made.
class workflow_entry {
public:
    using any_function = detail::any_function;

    template <class R, class State, class... Args>
    workflow_entry(workflow_function<R, State, Args...> code, std::string_view name,
                   unsigned version) noexcept
        : workflow_entry(reinterpret_cast<any_function>(code), name, version,
                         &make<R, State, Args...>) {
        static_cast<void>(check_workflow<R, flow<State>&, Args...>());
    }
    workflow_entry(any_function code, std::string_view name, unsigned version,
                   std::unique_ptr<flow_base> (*make)(any_function, const uuid&)) noexcept
        : code_(code), name_(name), version_(version), make_(make) {}
    workflow_entry(const workflow_entry&) = delete;
    workflow_entry& operator=(const workflow_entry&) = delete;
    ~workflow_entry() = default;

    template <class R, class State, class... Args>
    static std::unique_ptr<flow_base> make(any_function code, const uuid& run) {
        return std::make_unique<flow_run<R, State, Args...>>(
            reinterpret_cast<workflow_function<R, State, Args...>>(code), run);
    }

    [[nodiscard]] any_function function() const noexcept { return code_; }
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] unsigned version() const noexcept { return version_; }
    [[nodiscard]] std::unique_ptr<flow_base> begin(const uuid& run) const {
        return make_(code_, run);
    }

private:
    any_function code_;
    std::string_view name_;
    unsigned version_;
    std::unique_ptr<flow_base> (*make_)(any_function, const uuid&);
};

/// One that is found by its function, and stays for as long as the program runs.
class named_workflow : public workflow_entry {
public:
    template <class R, class State, class... Args>
    named_workflow(workflow_function<R, State, Args...> code, std::string_view name,
                   unsigned version) noexcept
        : workflow_entry(code, name, version), next_(std::exchange(all(), this)) {}

    /// Null if no `POSTHORN_WORKFLOW` names it.
    [[nodiscard]] static const named_workflow* find(any_function code) noexcept;
    /// Null if this program has not that version.
    [[nodiscard]] static const named_workflow* find(std::string_view name,
                                                    unsigned version) noexcept;

private:
    /// Filled before `main`, and only read later.
    static const named_workflow*& all() noexcept;

    const named_workflow* next_;
};

/// For the note of a workflow, which a function that was refused has not.
template <class Function, fixed_string Name, unsigned Version>
inline constexpr const void* workflow_note = nullptr;
template <class R, class State, class... Args, fixed_string Name, unsigned Version>
    requires(check_workflow<R, flow<State>&, Args...>())
inline constexpr const void* workflow_note<workflow_function<R, State, Args...>, Name, Version> =
    &note_in_program<note_kind::workflow,
                     written_workflow<workflow_function<R, State, Args...>, Name, Version>>;

}  // namespace detail
}  // namespace posthorn

template <class R, class... Args>
struct std::coroutine_traits<posthorn::workflow<R>, Args...> {
    static constexpr bool is_sound = posthorn::detail::check_workflow<R, Args...>();
    using promise_type = std::conditional_t<is_sound, posthorn::detail::flow_promise<R>,
                                            posthorn::detail::refused_promise<R>>;
};

/// Gives a function its name and version as a workflow:
/// `POSTHORN_WORKFLOW(approve_order, "ApproveOrder", 1)`, in its own namespace.
#define POSTHORN_WORKFLOW(function, name, version)                                                 \
    static_assert(sizeof(name) > 1, "posthorn: a workflow needs a name; this one's is empty");     \
    static_assert((version) > 0, "posthorn: the versions of a workflow begin with 1");             \
    [[maybe_unused]] static const void* const posthorn_note_of_##function =                        \
        ::posthorn::detail::workflow_note<decltype(&(function)), name, version>;                   \
    [[maybe_unused]] static const ::posthorn::detail::named_workflow posthorn_workflow_##function( \
        &(function), name, version);
