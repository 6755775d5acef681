#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <posthorn/contract.hpp>
#include <posthorn/workflow/core.hpp>

namespace posthorn {

/// A Command that a workflow was sent, to `answer` or to `refuse`, once, in this step or a later one.
/// One that is left is refused when the workflow ends, and comes again in the next run of it.
///
/// Lifetime: the workflow's frame; copies are of the same Command.
template <class T>
class request {
public:
    using message_type = T;

    /// The endpoint is a constant.
    request(detail::flow_base& in, std::uint32_t number, std::string_view endpoint, T said)
        : in_(&in), number_(number), endpoint_(endpoint), said_(std::move(said)) {}

    [[nodiscard]] const T& operator*() const noexcept { return said_; }
    [[nodiscard]] const T* operator->() const noexcept { return &said_; }

    template <class Response = response_of<T>>
        requires(!std::is_void_v<response_of<T>> &&
                 std::convertible_to<const Response&, response_of<T>>)
    void answer(const Response& with) const {
        in_->answer({.request = number_, .endpoint = endpoint_}, encode<response_of<T>>(with));
    }
    void answer() const
        requires std::is_void_v<response_of<T>>
    {
        in_->answer({.request = number_, .endpoint = endpoint_}, "null");
    }
    /// The sender hears why: a call of a workflow fails as one that had no effect.
    void refuse(std::string_view why) const {
        in_->answer({.request = number_, .endpoint = endpoint_, .is_refusal = true}, why);
    }

private:
    detail::flow_base* in_;
    std::uint32_t number_;
    std::string_view endpoint_;
    T said_;
};

namespace detail {

template <class T>
inline constexpr bool is_request = false;
template <class T>
inline constexpr bool is_request<request<T>> = true;

}  // namespace detail
}  // namespace posthorn
