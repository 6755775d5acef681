#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "feature/node_builder.hpp"

namespace posthorn {

/// Where pages may come from that show the portal in a frame, such as `https://app.example`; in the
/// order in which they are said, with commas between. Fails with `invalid_argument`, naming what is
/// none. Pure.
[[nodiscard]] result<std::vector<std::string>> parse_embedders(std::string_view text);

/// What a browser lets the portal's page do: files of the node alone, no code inside a page, and
/// frames of these origins alone. Pure.
[[nodiscard]] std::string portal_content_policy(const std::vector<std::string>& embedders);

/// The page by which subscribers see to their endpoints, for the listener that others reach:
///
/// | route                              | answers                          |
/// |------------------------------------|----------------------------------|
/// | GET /webhooks/portal/              | the page                         |
/// | GET /webhooks/portal               | the way to it                    |
/// | GET /webhooks/portal/assets/{file} | its script, style and icon       |
///
/// They hold nothing of the node and want no token. All that the page shows comes from the routes
/// beside it, which do.
[[nodiscard]] std::vector<public_route> portal_page_routes(
    const std::vector<std::string>& embedders);

}  // namespace posthorn
