#include "admin/key_report.hpp"

#include <boost/json/array.hpp>

#include "admin/json_fields.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using namespace json_fields;

std::string_view state_of(const signing_key& one, const key_ring& ring, wall_time now) {
    if (one.revoked) return "revoked";
    if (one.verifies_until && *one.verifies_until <= now) return "expired";
    if (const auto* const signer = ring.signer(now); signer != nullptr && signer->id == one.id)
        return "signs";
    if (one.signs_from && *one.signs_from > now) return "later";
    return "verifies";
}

json::object to_json(const std::string& peer, const key_ring& ring, wall_time now) {
    json::array keys;
    for (const auto& one : ring.keys()) {
        json::object shown{{"id", one.id}, {"state", state_of(one, ring, now)}};
        set(shown, "signsFrom", one.signs_from);
        set(shown, "verifiesUntil", one.verifies_until);
        keys.push_back(std::move(shown));
    }
    return {{"peer", text(peer)}, {"scheme", to_string(ring.scheme())}, {"keys", std::move(keys)}};
}

}  // namespace

json::object to_json(const key_report& report) {
    json::array admin;
    for (const auto& one : report.admin) {
        json::object shown{{"name", text(one.name)},
                           {"role", to_string(one.role)},
                           {"payloads", one.rights.payloads},
                           {"secrets", one.rights.secrets}};
        set(shown, "madeAt", one.made);
        admin.push_back(std::move(shown));
    }
    json::array peers;
    for (const auto& [peer, ring] : report.peers)
        if (ring) peers.push_back(to_json(peer, *ring, report.now));
    return {{"admin", std::move(admin)}, {"peers", std::move(peers)}};
}

}  // namespace posthorn
