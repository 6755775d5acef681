#include "fuzz/link_target.hpp"

#include <algorithm>
#include <string_view>

#include "fuzz/promise.hpp"
#include "standby/door/introduction.hpp"
#include "standby/link_format.hpp"
#include "standby/pair_state.hpp"
#include "standby/rejoin.hpp"

namespace posthorn {
namespace {

using fuzz::demand;
using standby::bytes_view;

const signing_key& pair_key() {
    static const auto one = make_key(secret(std::array<std::byte, 32>{std::byte{1}}));
    return one;
}

void come_to_the_port(bytes_view bytes) {
    standby::introduction door({.keys = key_ring({pair_key()}), .now = {}, .nonce = {}});
    std::size_t taken = 0;
    while (door.wanted() != 0) {
        demand(door.wanted() <= link_lobby::bytes_max, "no stranger gets more than a greeting");
        if (bytes.size() < door.wanted()) break;
        const auto wanted = door.wanted();
        const auto answer = door.take(bytes.first(wanted));
        demand(answer.size() <= link_lobby::bytes_max, "no stranger is told more than a greeting");
        bytes = bytes.subspan(wanted);
        taken += wanted;
    }
    demand(!door.proven(), "none who lacks the key proves to have it");
    demand(taken <= 2 * (standby::greeting_body_max + 64), "a greeting ends");
}

/// What was read is written as it was.
template <class Decode>
void read_body(bytes_view body, const Decode& decode) {
    if (const auto read = decode(body))
        demand(std::ranges::equal(standby::encode(*read), body), "a body is read whole");
}

void keep_beside(std::string_view text) {
    if (const auto read = standby::parse_pair_state(text))
        demand(standby::parse_pair_state(standby::to_text(*read)) == read, "a state is kept");
    if (const auto read = standby::parse_log_place(text))
        demand(standby::parse_log_place(standby::to_text(*read)) == read, "a place is told");
    if (const auto read = standby::parse_new_history(text)) {
        const auto again = standby::parse_new_history(standby::to_text(*read));
        demand(again && standby::to_text(*again) == standby::to_text(*read), "a history is told");
    }
    if (const auto read = parse_link_place(text))
        demand(parse_link_place(to_string(*read)).value() == *read, "an address is told");
}

}  // namespace

void fuzz_link(const std::uint8_t* data, std::size_t size) {
    const bytes_view bytes(reinterpret_cast<const std::byte*>(data), size);
    come_to_the_port(bytes);
    const auto head = bytes.first(std::min(size, standby::link_head_size));
    if (const auto rest = standby::link_seal::rest_after(head))
        demand(*rest <= standby::link_body_max + standby::link_tag_size, "a length is bounded");
    demand(!standby::link_seal(standby::link_end::standby, pair_key().value, {}).open(bytes),
           "nothing is opened that was not sealed");
    read_body(bytes, standby::decode_hello);
    read_body(bytes, standby::decode_nonce);
    read_body(bytes, standby::decode_identity);
    read_body(bytes, standby::decode_welcome);
    read_body(bytes, standby::decode_hand_over);
    read_body(bytes, standby::decode_hashes);
    demand(standby::words_of(bytes).size() <= 4 * standby::refusal_max, "a refusal is short");
    keep_beside(fuzz::text_of(data, size));
}

}  // namespace posthorn
