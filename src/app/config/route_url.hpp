#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `error_code::invalid_configuration`, which says what can be written, if it cannot be used.
/// `{service}` in a default route is replaced before.
[[nodiscard]] result<route_url> parse_route_url(std::string_view text);
[[nodiscard]] std::string for_service(std::string_view url, std::string_view destination);

/// The addresses of a route that names several, with commas in between; the text itself otherwise.
[[nodiscard]] std::vector<std::string_view> addresses_in(std::string_view text);

/// Whether what goes over such a route is signed, to one of its addresses at least; not so of a
/// scheme that is not known.
[[nodiscard]] bool is_signed(std::string_view url);
/// Whether others on the way can read along.
[[nodiscard]] bool is_plain(const route_url& url);

}  // namespace posthorn
