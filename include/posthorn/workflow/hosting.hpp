#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <posthorn/node.hpp>
#include <posthorn/workflow/flow.hpp>
#include <posthorn/workflow/function.hpp>
#include <posthorn/workflow/match.hpp>
#include <posthorn/workflow/starting.hpp>

namespace posthorn {
namespace detail {

/// Which signal starts a workflow, and which of its fields is then the workflow's id.
struct start_rule {
    std::string_view signal{};  // A constant; empty if none does.
    std::string_view field{};
    match_type type{};

    start_rule() = default;
    template <auto Member>
    // NOLINTNEXTLINE(google-explicit-constructor): `{.starts_on = the<&order_placed::id>}`.
    start_rule(named_field<Member>) noexcept
        : signal(awaited_by_program<void, typename named_field<Member>::owner>.name()),
          field(travelling_name<Member>()),
          type(match_type_of<typename named_field<Member>::value>()) {
        static_assert(check_awaited_signal<typename named_field<Member>::owner>());
    }
};

void start_workflow(transaction& in, const workflow_entry& code, std::string_view id,
                    std::string_view arguments);
/// To every workflow if `code` is null.
void tell_signal(transaction& in, std::string_view signal, std::string_view payload,
                 const workflow_entry* code = nullptr, std::string_view id = {});
bool cancel_workflow(transaction& in, const workflow_entry& code, std::string_view id,
                     std::string_view reason);

}  // namespace detail

/// What may be said of a workflow on a node.
struct workflow_options {
    /// A signal that starts one, and the field that becomes its id: `the<&order_placed::id>`. The
    /// signal is the workflow's only argument. One that was started before is not started again.
    detail::start_rule starts_on{};
};

/// Where a workflow stands.
struct workflow_view {
    uuid instance;
    unsigned version = 0;  // Zero before its first step, if none was asked for.
    flow_status status = flow_status::running;
    bool is_paused = false;
    std::int64_t run = 1;   // After `again` the next one.
    std::size_t steps = 0;  // Of this run.
    std::string state;      // JSON; empty before its first step.
    std::string result;     // JSON, once completed.
    std::string reason;     // Why it failed, was cancelled, or is quarantined.
};

template <class R, class... Params, class... Args>
void transaction::start(workflow<R> (*code)(Params...), std::string_view id, const Args&... args) {
    detail::start_workflow(*this, detail::entry_of(code), id,
                           detail::started_with<Params...>::encoded(args...));
}

template <class T>
void transaction::signal(const T& said) {
    if constexpr (detail::check_awaited_signal<T>())
        detail::tell_signal(*this, endpoint_of<T>, encode(said));
}

template <class R, class... Params, class T>
void transaction::signal(workflow<R> (*code)(Params...), std::string_view id, const T& said) {
    if constexpr (detail::check_awaited_signal<T>())
        detail::tell_signal(*this, endpoint_of<T>, encode(said), &detail::entry_of(code), id);
}

template <class R, class... Params>
void node::add(workflow<R> (*code)(Params...)) {
    add_workflow(detail::entry_of(code), {});
}

template <class R, class... Params>
void node::add(workflow<R> (*code)(Params...), const workflow_options& options) {
    if (!options.starts_on.signal.empty() && detail::started_with<Params...>::count != 1)
        throw error(error_code::invalid_argument,
                    "a workflow that a signal starts takes that signal as its only argument");
    add_workflow(detail::entry_of(code), options.starts_on);
}

template <class T>
void node::signal(const T& said) {
    transact([&](transaction& tx) { tx.signal(said); });
}

template <class R, class... Params, class T>
void node::signal(workflow<R> (*code)(Params...), std::string_view id, const T& said) {
    transact([&](transaction& tx) { tx.signal(code, id, said); });
}

template <class R, class... Params>
bool node::cancel(workflow<R> (*code)(Params...), std::string_view id, std::string_view reason) {
    return transact([&](transaction& tx) {
        return detail::cancel_workflow(tx, detail::entry_of(code), id, reason);
    });
}

template <class R, class... Params>
std::optional<workflow_view> node::find(workflow<R> (*code)(Params...), std::string_view id) const {
    return find_workflow(detail::entry_of(code).name(), id);
}

template <class R, class... Params>
workflow_view node::wait_for_end(workflow<R> (*code)(Params...), std::string_view id,
                                 std::chrono::milliseconds within) {
    return await_workflow(detail::entry_of(code).name(), id, within);
}

template <class State, class R, class... Params>
std::optional<State> node::state(workflow<R> (*code)(Params...), std::string_view id) const {
    const auto seen = find(code, id);
    if (!seen || seen->state.empty()) return {};
    return decode<State>(seen->state);
}

}  // namespace posthorn
