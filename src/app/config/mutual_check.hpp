#pragma once

#include "app/config/config.hpp"

namespace posthorn {

/// Whether the certificates are there that `tls.mutual` is to show and to look at: checked for a
/// program's own options as for a file.
[[nodiscard]] result<> check_mutual(const config& settings);

}  // namespace posthorn
