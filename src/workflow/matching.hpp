#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/workflow/match.hpp>

#include "base/result.hpp"

/// How a signal finds who waits for it, without loading any of them. Pure.
///
/// The equalities of a wait are its *key*; which fields they are of, and of which types, is its
/// *shape*. A signal is looked up once for each shape that waits for its name have: by the key that
/// its own fields make in that shape. The other comparisons are the *filter*.
namespace posthorn {

using match_terms = std::vector<detail::match_term>;

/// What `encode_terms` wrote.
[[nodiscard]] result<match_terms> parse_terms(std::string_view text);

struct match_key {
    std::string shape;   // `level:integer,orderId:text`; empty if there is no equality.
    std::string key;     // Short: long values are hashed.
    match_terms filter;  // What is left to compare.
};
[[nodiscard]] match_key key_of(const match_terms& terms);

/// The key that a signal makes in a shape. Empty if it lacks a field, or has one of another type.
[[nodiscard]] std::optional<std::string> key_in(std::string_view shape, std::string_view payload);

/// Whether a signal is as the comparisons say. A field that is missing, null or of another type is
/// as none says.
[[nodiscard]] bool passes(const match_terms& filter, std::string_view payload);

/// `Decided where orderId == "o1" and level >= 2`, for people.
[[nodiscard]] std::string in_words(std::string_view signal, const match_terms& terms);

}  // namespace posthorn
