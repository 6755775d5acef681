#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <posthorn/json/encode.hpp>

namespace posthorn {

template <class R>
class workflow;

namespace detail {

class workflow_entry;

using any_function = void (*)();

/// As the program calls it: a constant.
[[nodiscard]] std::string_view name_of(const workflow_entry& code) noexcept;
/// Throws if no `POSTHORN_WORKFLOW` names it.
[[nodiscard]] const workflow_entry& entry_of(any_function code);
template <class R, class... Params>
[[nodiscard]] const workflow_entry& entry_of(workflow<R> (*code)(Params...)) {
    return entry_of(reinterpret_cast<any_function>(code));
}

/// Arguments as they are stored: a JSON array.
template <class... Args>
[[nodiscard]] std::string encode_arguments(const Args&... args) {
    std::string text = "[";
    ((text.size() > 1 ? static_cast<void>(text += ',') : void(), encode_to(text, args)), ...);
    return text += ']';
}

/// What a workflow with these parameters is started with.
template <class... Params>
struct started_with;
template <class Flow, class... Params>
struct started_with<Flow, Params...> {
    static constexpr std::size_t count = sizeof...(Params);

    template <class... Args>
    static std::string encoded(const Args&... args) {
        static_assert(sizeof...(Args) == count,
                      "posthorn: this workflow is started with another number of arguments");
        if constexpr (sizeof...(Args) == count) {
            static_assert((std::convertible_to<const Args&, Params> && ...),
                          "posthorn: this workflow is started with arguments of other types");
            if constexpr ((std::convertible_to<const Args&, Params> && ...))
                return encode_arguments<Params...>(args...);
            else
                return {};
        } else {
            return {};
        }
    }
};

}  // namespace detail
}  // namespace posthorn
