#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace posthorn::detail {

/// A function that is moved and never copied, so that it may hold what cannot be copied. As with
/// `std::function`, who has it as a constant may call it.
template <class Signature>
class unique_function;

template <class Result, class... Args>
class unique_function<Result(Args...)> {
public:
    unique_function() noexcept = default;
    // NOLINTBEGIN(google-explicit-constructor): a lambda is to be given as it is.
    unique_function(std::nullptr_t) noexcept {}
    template <class Function>
        requires(!std::same_as<std::remove_cvref_t<Function>, unique_function> &&
                 std::is_invocable_r_v<Result, std::decay_t<Function>&, Args...>)
    unique_function(Function&& function) {
        using held = std::decay_t<Function>;
        // A pointer or a `std::function` may be empty, and then this is, too.
        if constexpr (std::is_pointer_v<held> || requires { typename held::result_type; })
            if (!function) return;
        target_ = std::make_unique<holder<held>>(std::forward<Function>(function));
    }
    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }

    /// Not while it is empty.
    Result operator()(Args... args) const { return target_->call(std::forward<Args>(args)...); }

private:
    struct target {
        virtual ~target() = default;
        virtual Result call(Args&&... args) = 0;
    };
    template <class Held>
    struct holder final : target {
        explicit holder(auto&& from) : held(std::forward<decltype(from)>(from)) {}  // NOLINT: ours.
        Result call(Args&&... args) override {
            if constexpr (std::is_void_v<Result>)
                static_cast<void>(held(std::forward<Args>(args)...));
            else
                return held(std::forward<Args>(args)...);
        }
        Held held;
    };

    std::unique_ptr<target> target_;
};

}  // namespace posthorn::detail
