#pragma once

#include "app/config.hpp"
#include "transport/wire/peer_keys.hpp"

namespace posthorn {

/// Fetches every secret that the configuration names: from itself, the environment, or files.
///
/// `error_code::secret_unavailable`, with the line of the configuration and without a word of any
/// secret, if one is missing, too short, or in a file that others may read.
[[nodiscard]] result<peer_keys::rings> load_secrets(const config& settings);

}  // namespace posthorn
