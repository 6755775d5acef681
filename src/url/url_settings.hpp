#pragma once

#include <span>
#include <vector>

#include "feature/feature.hpp"
#include "url/url_client.hpp"

namespace posthorn {

/// The keys of `[urls]`.
[[nodiscard]] std::span<const feature_key> url_keys() noexcept;

/// What they say. Fails with `invalid_configuration`, naming the key.
[[nodiscard]] result<url_client::options> read_url_options(const feature_settings& said);

/// Every key that cannot be what it is.
[[nodiscard]] std::vector<feature_problem> check_url_settings(const feature_settings& said);

}  // namespace posthorn
