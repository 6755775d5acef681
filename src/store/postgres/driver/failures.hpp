#pragma once

#include <string>
#include <string_view>

#include <posthorn/error.hpp>

struct pg_conn;
struct pg_result;

namespace posthorn::postgres {

/// What the five letters of an error of the server mean to a caller. Pure.
[[nodiscard]] error_code classify(std::string_view state) noexcept;

/// Why no connection was made. `url` is named without its password.
[[nodiscard]] error connect_failure(pg_conn* handle, std::string_view url);
/// The connection is gone.
[[nodiscard]] error lost_failure(pg_conn* handle);
/// What a statement was refused for; `cancelled` if we asked for that ourselves.
[[nodiscard]] error statement_failure(const pg_result* answer, pg_conn* handle, bool cancelled,
                                      std::string_view schema);

/// Whether a name is that of a table, view or sequence of the store's; without its schema, as the
/// server names it.
[[nodiscard]] bool is_ours(std::string_view name);
/// What is to be granted, for what the server says is denied; empty if it says something else.
[[nodiscard]] std::string missing_grant(std::string_view denied, std::string_view role,
                                        std::string_view schema);

}  // namespace posthorn::postgres
