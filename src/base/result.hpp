#pragma once

#include <expected>
#include <utility>

#include <fmt/format.h>

#include <posthorn/error.hpp>

namespace posthorn {

/// A value, or the error that the public API would throw in its place.
template <class T = void>
using result = std::expected<T, error>;

/// `return fail(error_code::timed_out, "no answer from {} in {} ms; is it running?", peer, ms);`
template <class... Args>
[[nodiscard]] std::unexpected<error> fail(error_code code, fmt::format_string<Args...> text,
                                          Args&&... args) {
    return std::unexpected(error(code, fmt::format(text, std::forward<Args>(args)...)));
}

/// For the border between the inside and the public API.
template <class T>
T value_or_throw(result<T> outcome) {
    if (!outcome) throw std::move(outcome).error();
    if constexpr (!std::is_void_v<T>) return *std::move(outcome);
}

}  // namespace posthorn

/// Leaves the function with the error of an expression that has one; drops its value.
#define POSTHORN_TRY(...)                                       \
    if (auto&& posthorn_tried = (__VA_ARGS__); !posthorn_tried) \
    return std::unexpected(std::move(posthorn_tried).error())

/// The same inside a coroutine.
#define POSTHORN_CO_TRY(...)                                    \
    if (auto&& posthorn_tried = (__VA_ARGS__); !posthorn_tried) \
    co_return std::unexpected(std::move(posthorn_tried).error())

/// `POSTHORN_LET(row, table.find(id));` makes `row` the value, or leaves the function with the
/// error.
#define POSTHORN_LET(name, ...)                                                               \
    auto posthorn_let_##name = (__VA_ARGS__);                                                 \
    if (!posthorn_let_##name) return std::unexpected(std::move(posthorn_let_##name).error()); \
    auto& name = *posthorn_let_##name

/// The same inside a coroutine.
#define POSTHORN_CO_LET(name, ...)                                                               \
    auto posthorn_let_##name = (__VA_ARGS__);                                                    \
    if (!posthorn_let_##name) co_return std::unexpected(std::move(posthorn_let_##name).error()); \
    auto& name = *posthorn_let_##name
