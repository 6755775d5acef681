#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <posthorn/proxy.hpp>
#include <posthorn/workflow/checks.hpp>
#include <posthorn/workflow/combine.hpp>
#include <posthorn/workflow/core.hpp>
#include <posthorn/workflow/manifest.hpp>
#include <posthorn/workflow/match.hpp>
#include <posthorn/workflow/pending.hpp>
#include <posthorn/workflow/starting.hpp>

namespace posthorn {

/// The state of a workflow that keeps none.
struct no_state {};

template <class State>
class flow;

namespace detail {

[[nodiscard]] uuid random_uuid(flow_base& from) noexcept;

/// For the promise, which is given the flow.
template <class State>
flow_base& flow_core(flow<State>& of) noexcept {
    return of.core_;
}

}  // namespace detail

/// What a workflow works with: calls, waits, time, and its own state. All of it is recorded, so that
/// after a crash the code runs again up to where it was and goes on.
///
/// Commands are made in the order of the code, at once; `co_await` only waits for their answers.
///
/// Lifetime: the run of the workflow; always a reference.
/// Threads:  one at a time.
template <class State = no_state>
class flow {
public:
    /// What people and queries see of the workflow; stored after every step that changed it.
    State state{};

    explicit flow(detail::flow_base& core) noexcept : core_(core) {}
    flow(const flow&) = delete;
    flow& operator=(const flow&) = delete;

    /// Sends a Command to a service, exactly once, and gives its response; `call_failed` if it was
    /// given up: `co_await f.call<billing>(charge{o.id, o.cents})`.
    template <class Service, class Command>
    [[nodiscard]] auto call(const Command& command, call_options options = {}) {
        if constexpr (detail::check_call<Service, Command>()) {
            detail::leave_note<detail::note_kind::call, detail::written_call<Service, Command>>();
            const auto payload = written([&](std::string& to) { encode_to(to, command); });
            auto& made =
                core_.issue(detail::command_kind::call, Service::template endpoint<Command>);
            made.destination = Service::name;
            made.payload = payload;
            made.options = std::move(options);
            return pending_call<Service, Command>(core_, made.number, made.kind, made.name);
        } else {
            return detail::refused{};
        }
    }

    /// The next signal that fits: `co_await f.wait(the<&decided::order_id> == o.id)`. One that came
    /// before it was waited for counts, too.
    template <class T>
    [[nodiscard]] auto wait(const match<T>& of) {
        if constexpr (detail::check_awaited_signal<T>())
            return wait_for<void>(of);
        else
            return detail::refused{};
    }
    /// A signal that belongs to a version of a service.
    template <class Service, class T>
    [[nodiscard]] auto wait(const match<T>& of) {
        if constexpr (detail::check_in_service<Service, T>() && detail::check_awaited_signal<T>())
            return wait_for<Service>(of);
        else
            return detail::refused{};
    }
    /// The next one of its kind, whatever it says.
    template <message_contract T>
    [[nodiscard]] auto wait() {
        return wait(match<T>());
    }

    /// The next Command that fits, to be answered or refused by this workflow:
    ///
    ///     const auto asked = co_await f.receive(the<&change_card::customer> == c.id);
    ///     asked.answer(changed{});
    ///
    /// One that came before counts, too; of several workflows that would, the oldest wait gets it.
    template <class T>
    [[nodiscard]] auto receive(const match<T>& of) {
        if constexpr (detail::check_received_command<T>())
            return receive_for<void>(of);
        else
            return detail::refused{};
    }
    /// A Command that belongs to a version of a service.
    template <class Service, class T>
    [[nodiscard]] auto receive(const match<T>& of) {
        if constexpr (detail::check_in_service<Service, T>() && detail::check_received_command<T>())
            return receive_for<Service>(of);
        else
            return detail::refused{};
    }
    /// The next one of its kind, whatever it says.
    template <message_contract T>
    [[nodiscard]] auto receive() {
        return receive(match<T>());
    }

    [[nodiscard]] pending<void> sleep(std::chrono::milliseconds time) {
        return sleep_until(detail::later(now(), time));
    }
    [[nodiscard]] pending<void> sleep_until(wall_time until) {
        detail::issue_sleep(core_, until);
        return {core_, core_.commands(), detail::command_kind::sleep, {}};
    }

    /// Runs `work(transaction&)` in the very commit that records this step: exactly once. Gives what
    /// it gives. It captures by value; `permanent` reaches the workflow, anything else is tried
    /// again.
    template <class Work>
    [[nodiscard]] auto transact(Work work) {
        using result = std::invoke_result_t<Work&, transaction&>;
        if constexpr (detail::check_linked<Work>() && detail::check_kept_result<result>()) {
            detail::leave_note<detail::note_kind::linked_only, detail::written_use<"transact">>();
            auto& made = core_.issue(detail::command_kind::transact, {});
            made.transact = [call = std::move(work)](transaction& tx) mutable {
                return detail::recorded_result<result>(call, tx);
            };
            return pending<result>(core_, made.number, made.kind, "transact");
        } else {
            return detail::refused{};
        }
    }

    /// Runs `work()`, or `work(const uuid& key)`, on a thread that it may block: at least once. The
    /// key is the same each time.
    template <class Work>
    [[nodiscard]] auto run(Work work) {
        constexpr bool takes_key = std::invocable<Work&, const posthorn::uuid&>;
        using result =
            typename std::conditional_t<takes_key, std::invoke_result<Work&, const posthorn::uuid&>,
                                        std::invoke_result<Work&>>::type;
        if constexpr (detail::check_linked<Work>() && detail::check_kept_result<result>()) {
            detail::leave_note<detail::note_kind::linked_only, detail::written_use<"run">>();
            auto& made = core_.issue(detail::command_kind::run, {});
            made.run = [call = std::move(work)](const posthorn::uuid& key) mutable {
                if constexpr (takes_key)
                    return detail::recorded_result<result>(call, key);
                else
                    return detail::recorded_result<result>(call);
            };
            return pending<result>(core_, made.number, made.kind, "run");
        } else {
            return detail::refused{};
        }
    }

    /// The first of several handles that is ready: a variant. Handles that it was given as temporaries
    /// end; named ones go on.
    template <class... Handles>
    [[nodiscard]] auto first(Handles&&... handles) {
        if constexpr (check_handles<Handles...>())
            return detail::first_of<Handles...>(std::forward<Handles>(handles)...);
        else
            return detail::refused{};
    }
    /// All of them: a tuple. Ends with the first failure.
    template <class... Handles>
    [[nodiscard]] auto all(Handles&&... handles) {
        if constexpr (check_handles<Handles...>())
            return detail::each_of<Handles...>(std::forward<Handles>(handles)...);
        else
            return detail::refused{};
    }
    /// All of many, in their order.
    template <class R>
    [[nodiscard]] auto all(std::vector<pending<R>>&& handles) {
        return detail::some_of<R, std::vector<pending<R>>>(core_, handles.size(),
                                                           std::move(handles));
    }
    template <class R>
    [[nodiscard]] auto all(std::vector<pending<R>>& handles) {
        return detail::some_of<R, std::vector<pending<R>>&>(core_, handles.size(), handles);
    }
    /// As many of them as are asked for, in the order in which they came. Fails when too many have.
    template <class R>
    [[nodiscard]] auto some(std::size_t count, std::vector<pending<R>>&& handles) {
        return detail::some_of<R, std::vector<pending<R>>>(core_, std::min(count, handles.size()),
                                                           std::move(handles));
    }
    template <class R>
    [[nodiscard]] auto some(std::size_t count, std::vector<pending<R>>& handles) {
        return detail::some_of<R, std::vector<pending<R>>&>(core_, std::min(count, handles.size()),
                                                            handles);
    }

    /// Begins another workflow in the commit of this step, and gives its result; `child_failed` if it
    /// ends otherwise: `co_await f.child(ship, o.id + "/1", parcel)`. When this workflow is cancelled,
    /// so are its children.
    ///
    /// The id is used once, as always; but after `again` it gives the child that goes on from the run
    /// before.
    template <class R, class... Params, class... Args>
    [[nodiscard]] pending_child<R> child(workflow<R> (*code)(Params...), std::string_view id,
                                         const Args&... args) {
        return {core_, begin(detail::command_kind::child, code, id, args...),
                detail::command_kind::child, detail::name_of(detail::entry_of(code))};
    }
    /// Begins another workflow that has nothing to do with this one any more. If there is one of
    /// this id already, it is left as it is.
    template <class R, class... Params, class... Args>
    void start(workflow<R> (*code)(Params...), std::string_view id, const Args&... args) {
        begin(detail::command_kind::start, code, id, args...);
    }
    /// Waits for the end of another workflow, whichever began it, and gives its result.
    template <class R, class... Params>
    [[nodiscard]] pending<R> attach(workflow<R> (*code)(Params...), std::string_view id) {
        const auto& entry = detail::entry_of(code);
        const auto name = written([&](std::string& to) { to += id; });
        auto& made = core_.issue(detail::command_kind::attach, detail::name_of(entry));
        made.code = &entry;
        made.id = name;
        return {core_, made.number, made.kind, detail::name_of(entry)};
    }

    /// Ends this run and begins the next one, with these arguments, the state as it is, children that
    /// go on, and the signals that wait: `co_await f.again(subscription, c)`. What was recorded is
    /// left behind, so a workflow may live for ever. Nothing of this run is waited for any more, and
    /// none of its calls undone.
    ///
    /// It takes a function of the same name: another version lets the workflow go on as that one.
    template <class R, class Other, class... Params, class... Args>
    [[nodiscard]] auto again(workflow<R> (*code)(flow<Other>&, Params...), const Args&... args) {
        static_assert(std::same_as<Other, State>,
                      "posthorn: the next run keeps the state; give again a workflow with the "
                      "same one");
        if constexpr (std::same_as<Other, State>)
            return detail::next_run(
                core_, detail::entry_of(code),
                detail::started_with<flow<Other>&, Params...>::encoded(args...));
        else
            return detail::refused{};
    }

    /// The time of the step: the same whenever it is repeated.
    [[nodiscard]] wall_time now() const noexcept { return core_.step_time(); }
    /// Likewise.
    [[nodiscard]] std::uint64_t random() noexcept { return core_.next_random(); }
    [[nodiscard]] posthorn::uuid uuid() noexcept { return detail::random_uuid(core_); }
    /// A line of the log; silent where the code only repeats what it did.
    void log(std::string_view text) { core_.write_log(text); }
    [[nodiscard]] bool is_cancelled() const noexcept { return core_.is_cancelled(); }
    /// Whether this run came here with code that has the patch: false in one that had passed by
    /// before. It says the same for the rest of the run:
    ///
    ///     const auto fee = f.patched("fees of 2027") ? new_fee(o) : old_fee(o);
    ///
    /// When no run from before is left, the branch may go; the call stays until those are gone that
    /// have recorded it.
    bool patched(detail::patch_name name) { return core_.has_patch(name.text()); }

private:
    template <class Any>
    friend detail::flow_base& detail::flow_core(flow<Any>& of) noexcept;

    template <class... Handles>
    static consteval bool check_handles() {
        constexpr bool all_are = sizeof...(Handles) > 0 && (detail::handle_of_flow<Handles> && ...);
        static_assert(
            all_are,
            "posthorn: first and all take what call, wait, sleep and the like give, as it "
            "is: give .within as a sleep of its own");
        return all_are;
    }

    /// Before the command is made, which must not be without it if it cannot be written.
    template <class Write>
    detail::text_slice written(Write&& write) {
        auto& text = core_.step().text;
        const auto at = static_cast<std::uint32_t>(text.size());
        write(text);
        return {at, static_cast<std::uint32_t>(text.size()) - at};
    }

    template <class R, class... Params, class... Args>
    std::uint32_t begin(detail::command_kind kind, workflow<R> (*code)(Params...),
                        std::string_view id, const Args&... args) {
        const auto& entry = detail::entry_of(code);
        const auto arguments = written(
            [&](std::string& to) { to += detail::started_with<Params...>::encoded(args...); });
        const auto name = written([&](std::string& to) { to += id; });
        auto& made = core_.issue(kind, detail::name_of(entry));
        made.code = &entry;
        made.payload = arguments;
        made.id = name;
        return made.number;
    }

    template <class Service, class T>
    pending_signal<T> wait_for(const match<T>& of) {
        detail::leave_note<detail::note_kind::wait,
                           detail::written_arrival<detail::arrival_name<Service, T>, T>>();
        const auto name = detail::awaited_by_program<Service, T>.name();
        const auto terms = written([&](std::string& to) { detail::encode_terms(to, of.terms()); });
        auto& made = core_.issue(detail::command_kind::wait, name);
        made.payload = terms;
        return {core_, made.number, made.kind, name,
                [](std::string_view payload) { static_cast<void>(decode<T>(payload)); }};
    }

    template <class Service, class T>
    pending<request<T>> receive_for(const match<T>& of) {
        detail::leave_note<detail::note_kind::receive,
                           detail::written_arrival<detail::arrival_name<Service, T>, T>>();
        const auto name = detail::received_by_program<Service, T>.name();
        const auto terms = written([&](std::string& to) { detail::encode_terms(to, of.terms()); });
        auto& made = core_.issue(detail::command_kind::receive, name);
        made.payload = terms;
        made.exclusive = true;
        return {core_, made.number, made.kind, name,
                [](std::string_view payload) { static_cast<void>(decode<T>(payload)); }};
    }

    detail::flow_base& core_;
};

}  // namespace posthorn
