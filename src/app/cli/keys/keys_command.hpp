#pragma once

#include <string>
#include <vector>

#include <boost/json/array.hpp>

#include <posthorn/detail/time.hpp>

#include "app/cli/kit/command.hpp"
#include "base/random.hpp"
#include "security/ring_file.hpp"

namespace posthorn::cli {

std::unique_ptr<command> make_keys_new_command();
std::unique_ptr<command> make_keys_rotate_command();
std::unique_ptr<command> make_keys_revoke_command();
std::unique_ptr<command> make_keys_list_command();
std::unique_ptr<command> make_keys_admin_command();
std::unique_ptr<command> make_keys_publisher_command();
std::unique_ptr<command> make_keys_sign_command();

/// 32 random bytes.
[[nodiscard]] secret make_secret(random_source& random);

/// The keys of one peer as people and programs may see them: everything but the secrets.
struct peer_keys_view {
    std::string peer;
    key_ring ring;
};

/// `signs`, `signs from …`, `verifies`, `verifies until …`, `expired`, `revoked`.
[[nodiscard]] std::string key_state(const key_ring& ring, const signing_key& key, wall_time now);
[[nodiscard]] std::string to_text(const std::vector<peer_keys_view>& peers, wall_time now);
[[nodiscard]] boost::json::array to_json(const std::vector<peer_keys_view>& peers, wall_time now);

}  // namespace posthorn::cli
