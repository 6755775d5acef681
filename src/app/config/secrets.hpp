#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/config/config_problems.hpp"
#include "transport/wire/peer_keys.hpp"

namespace posthorn {

/// Fetches every secret that the configuration names: from itself, the environment, or files.
///
/// `error_code::secret_unavailable`, with the line of the configuration and without a word of any
/// secret, if one is missing, too short, or in a file that others may read.
[[nodiscard]] result<peer_keys::rings> load_secrets(const config& settings);
/// The same, and what cannot be fetched is added to `found`.
[[nodiscard]] peer_keys::rings load_secrets(const config& settings, config_problems& found);

/// Whether each route that is signed has a secret; one that has none is added to `found`, with its
/// line. `is_own` tells the URLs of an application's own transports.
void check_routes(const config& settings, const peer_keys::rings& rings,
                  const std::function<bool(std::string_view url)>& is_own, config_problems& found);
/// The peers for which there are keys, but none that could sign now.
[[nodiscard]] std::vector<std::string> peers_without_signer(const peer_keys::rings& rings,
                                                            wall_time now);

}  // namespace posthorn
