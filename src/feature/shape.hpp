#pragma once

#include <string_view>

#include <boost/json/value.hpp>

#include "base/result.hpp"

namespace posthorn {

/// A short way to write down what JSON looks like:
///
/// | written                                | is                                               |
/// |----------------------------------------|--------------------------------------------------|
/// | `string integer number boolean null`   | a value of that type; `any` is every value       |
/// | `time`, `uuid`                         | a text of that form                              |
/// | `'a'`                                  | that very text                                   |
/// | `[T]`                                  | a list                                           |
/// | `{a: T, b?: T}`                        | an object; what has a question mark may be absent |
/// | `{a: count}`                           | a number, and beside it `aAtLeast` where it was  |
/// |                                        | not counted to the end                           |
/// | `T \| U`                               | either                                           |
/// | `{...Name, a: T}`                      | all that the named one has, and more             |
/// | `Name`                                 | what has that name among the schemas of the API  |
///
/// This makes a JSON Schema of it, as OpenAPI 3.1 has them; `error_code::invalid_argument` says
/// where the text cannot be read. Pure.
[[nodiscard]] result<boost::json::value> schema_of(std::string_view shape);

}  // namespace posthorn
