#pragma once

#include <algorithm>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <posthorn/workflow/pending.hpp>

/// Waiting for several handles at once. Those that are given as temporaries, or moved, belong to the
/// awaitable and end with it; those that are named go on.
namespace posthorn::detail {

template <class T>
concept handle_of_flow = std::derived_from<std::remove_cvref_t<T>, pending_base>;

template <class R>
using or_nothing = std::conditional_t<std::is_void_v<R>, std::monostate, R>;

template <class R>
or_nothing<R> value_of(const pending<R>& from) {
    if constexpr (std::is_void_v<R>) {
        from.get();
        return {};
    } else {
        return from.get();
    }
}

/// The first of several; a variant with as many alternatives.
template <class... Handles>
class [[nodiscard("posthorn: co_await it")]] first_of : public flow_awaitable {
public:
    using value_type =
        std::variant<or_nothing<typename std::remove_cvref_t<Handles>::value_type>...>;

    explicit first_of(Handles&&... handles) : handles_(std::forward<Handles>(handles)...) {}

    [[nodiscard]] bool await_ready() {
        group_ = {};
        each([&](auto& handle) { handle.join(group_); });
        return group_.is_met() || flow().is_cancelled();
    }
    void await_suspend(std::coroutine_handle<>) { flow().suspend(group_); }
    value_type await_resume() {
        std::uint32_t first = 0;
        each([&](auto& handle) {
            handle.leave();
            if (handle.is_ready() && (first == 0 || handle.arrived() < first))
                first = handle.arrived();
        });
        if (first == 0) flow().throw_cancelled();
        return pick(first, std::index_sequence_for<Handles...>{});
    }

private:
    flow_base& flow() { return std::get<0>(handles_).flow(); }
    template <class Each>
    void each(Each&& call) {
        std::apply([&](auto&... handle) { (call(handle), ...); }, handles_);
    }
    template <std::size_t... Index>
    value_type pick(std::uint32_t arrived, std::index_sequence<Index...>) {
        std::optional<value_type> found;
        const auto take = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
            if (std::get<At>(handles_).arrived() == arrived)
                found.emplace(std::in_place_index<At>, value_of(std::get<At>(handles_)));
        };
        (take(std::integral_constant<std::size_t, Index>{}), ...);
        return *std::move(found);
    }

    std::tuple<Handles...> handles_;
    pending_group group_;
};

/// All of several of different types; a tuple.
template <class... Handles>
class [[nodiscard("posthorn: co_await it")]] each_of : public flow_awaitable {
public:
    using value_type = std::tuple<or_nothing<typename std::remove_cvref_t<Handles>::value_type>...>;

    explicit each_of(Handles&&... handles) : handles_(std::forward<Handles>(handles)...) {}

    [[nodiscard]] bool await_ready() {
        group_ = {.needed = sizeof...(Handles)};
        each([&](auto& handle) { handle.join(group_); });
        return group_.is_met() || flow().is_cancelled();
    }
    void await_suspend(std::coroutine_handle<>) { flow().suspend(group_); }
    value_type await_resume() {
        each([&](auto& handle) { handle.leave(); });
        each([&](auto& handle) {
            if (handle.has_failed()) static_cast<void>(value_of(handle));
        });
        return std::apply([](auto&... handle) { return value_type(value_of(handle)...); },
                          handles_);
    }

private:
    flow_base& flow() { return std::get<0>(handles_).flow(); }
    template <class Each>
    void each(Each&& call) {
        std::apply([&](auto&... handle) { (call(handle), ...); }, handles_);
    }

    std::tuple<Handles...> handles_;
    pending_group group_;
};

/// So many of several of one type: their values in the order in which they came, or, of all, in
/// which they were given. `Held` is a vector, or a reference to one.
template <class R, class Held>
class [[nodiscard("posthorn: co_await it")]] some_of : public flow_awaitable {
public:
    using value_type = std::conditional_t<std::is_void_v<R>, void, std::vector<or_nothing<R>>>;

    some_of(flow_base& in, std::size_t count, Held&& handles)
        : flow_(in), count_(count), handles_(std::forward<Held>(handles)) {}

    [[nodiscard]] bool await_ready() {
        group_ = {.needed = static_cast<std::uint32_t>(count_),
                  .failures_allowed = static_cast<std::uint32_t>(handles_.size() - count_)};
        for (auto& handle : handles_) handle.join(group_);
        return group_.is_met() || flow_.is_cancelled();
    }
    void await_suspend(std::coroutine_handle<>) { flow_.suspend(group_); }
    value_type await_resume() {
        std::vector<const pending<R>*> chosen;
        chosen.reserve(handles_.size());
        for (auto& handle : handles_) {
            handle.leave();
            if (group_.failures > group_.failures_allowed && handle.has_failed())
                static_cast<void>(handle.get());  // Throws it.
            if (count_ == handles_.size() || (handle.is_ready() && !handle.has_failed()))
                chosen.push_back(&handle);
        }
        if (chosen.size() < count_) flow_.throw_cancelled();
        if (count_ < handles_.size())
            std::ranges::sort(chosen, {}, [](const auto* each) { return each->arrived(); });
        chosen.resize(count_);
        if constexpr (std::is_void_v<R>) {
            for (const auto* each : chosen) each->get();
        } else {
            value_type values;
            values.reserve(count_);
            for (const auto* each : chosen) values.push_back(each->get());
            return values;
        }
    }

private:
    flow_base& flow_;
    std::size_t count_;
    Held handles_;
    pending_group group_;
};

}  // namespace posthorn::detail
