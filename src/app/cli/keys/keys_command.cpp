#include "app/cli/keys/keys_command.hpp"

#include <array>

#include <boost/json/object.hpp>

#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/presentation.hpp"

namespace posthorn::cli {
namespace {

constexpr std::array members{
    command_entry{"new", "make a secret for two services", make_keys_new_command},
    command_entry{"rotate", "put a new key into a ring file", make_keys_rotate_command},
    command_entry{"revoke", "end a key of a ring file at once", make_keys_revoke_command},
    command_entry{"list", "show keys and their states, never the secrets", make_keys_list_command},
    command_entry{"admin", "make keys for operators and their tools", make_keys_admin_command},
    command_entry{"publisher", "make a pair to sign binaries of workflows with",
                  make_keys_publisher_command},
    command_entry{"sign", "sign a binary of workflows", make_keys_sign_command},
};

// For programs: one word.
std::string_view state_name(const key_ring& ring, const signing_key& key, wall_time now) {
    if (key.revoked) return "revoked";
    if (key.verifies_until && *key.verifies_until <= now) return "expired";
    const auto* signer = ring.signer(now);
    return signer && signer->id == key.id ? "signs" : "verifies";
}

}  // namespace

secret make_secret(random_source& random) {
    std::array<std::byte, 32> bytes{};
    random.fill(bytes);
    secret made(bytes);
    bytes.fill(std::byte{});
    return made;
}

std::string key_state(const key_ring& ring, const signing_key& key, wall_time now) {
    std::string state(state_name(ring, key, now));
    if (state == "revoked" || state == "expired") return state;
    if (state == "verifies" && key.signs_from && *key.signs_from > now)
        state += ", signs from " + to_iso8601(*key.signs_from);
    if (key.verifies_until)
        state +=
            fmt::format("{} until {} ({})", state == "signs" ? ", verifies" : "",
                        to_iso8601(*key.verifies_until), to_distance(*key.verifies_until, now));
    return state;
}

std::string to_text(const std::vector<peer_keys_view>& peers, wall_time now) {
    text_table table({"PEER", "KEY", "STATE"});
    for (const auto& each : peers)
        for (const auto& key : each.ring.keys())
            table.add({to_cell(each.peer), key.id, key_state(each.ring, key, now)});
    return table.to_text();
}

boost::json::array to_json(const std::vector<peer_keys_view>& peers, wall_time now) {
    boost::json::array list;
    for (const auto& each : peers)
        for (const auto& key : each.ring.keys())
            list.push_back(boost::json::object{{"peer", each.peer},
                                               {"id", key.id},
                                               {"state", state_name(each.ring, key, now)},
                                               {"from", to_json(key.signs_from)},
                                               {"until", to_json(key.verifies_until)}});
    return list;
}

std::unique_ptr<command> make_keys_command() { return std::make_unique<command_group>(members); }

}  // namespace posthorn::cli
