#pragma once

#include <string>

#include "base/time/clock.hpp"
#include "feature/feature.hpp"
#include "standby/door/pair_access.hpp"
#include "standby/link_format.hpp"

namespace posthorn::standby {

/// What `[standby]` says of how the two know each other.
struct pair_credentials {
    std::string key{};  // Where the pair's keys are: `file:PATH` or `env:NAME`.
    tls_files tls{};    // None for plain text.
    std::string peer_name{};

    [[nodiscard]] bool has_tls() const noexcept { return !tls.certificate.empty(); }
};

/// `error_code::invalid_configuration`, naming the key, if only a part of a certificate is named.
/// Certificates are of the service unless `standby.peer_name` says otherwise.
[[nodiscard]] result<pair_credentials> read_credentials(const feature_settings& said,
                                                        const std::string& service);
/// The pair's keys as they are now: the first in force is shown, all that are alive are taken.
/// `error_code::secret_unavailable` or `invalid_configuration`.
[[nodiscard]] result<key_ring> read_pair_keys(const pair_credentials& from);
/// Both as they are now, whenever they are asked for. The clock outlives it.
[[nodiscard]] pair_access access_with(const pair_credentials& from, link_end self,
                                      const clock& time);
/// What is wrong with any of it now.
[[nodiscard]] result<> check_credentials(const pair_credentials& what, const clock& time);

}  // namespace posthorn::standby
