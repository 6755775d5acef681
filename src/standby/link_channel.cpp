#include "standby/link_channel.hpp"

#include <algorithm>
#include <array>

#include "standby/door/introduction.hpp"

namespace posthorn::standby {

result<link_channel> link_channel::connect(const link_place& to, const parts& with,
                                           std::chrono::milliseconds patience) {
    POSTHORN_LET(keys, with.access.keys());
    const auto* const key = keys.signer(with.time.wall());
    if (key == nullptr)
        return fail(error_code::secret_unavailable, "no key in standby.key is in force now");
    POSTHORN_LET(security, with.access.security());
    POSTHORN_LET(socket, link_socket::connect(to, patience));
    const auto begun = with.time.steady();
    const auto left = [&] {
        const auto gone = std::chrono::floor<std::chrono::milliseconds>(with.time.steady() - begun);
        return std::max(patience - gone, std::chrono::milliseconds{0});
    };
    POSTHORN_TRY(socket.secure(security, patience));
    link_channel made(std::move(socket), link_seal(link_end::primary), left());
    std::array<std::byte, 2 * nonce_size> nonces{};
    link_hello hello{.key_id = key->id};
    with.random.fill(hello.nonce);
    POSTHORN_TRY(made.say(link_kind::hello, {encode(hello)}));
    made.patience_ = left();
    POSTHORN_LET(answer, made.hear(greeting_body_max));
    made.patience_ = patience;
    // It has not shown that it has the key, so that what it says is no more than a hint.
    if (answer.kind == link_kind::refused)
        return fail(error_code::bad_signature, "{} does not know us: {}", to_string(to),
                    words_of(answer.body));
    if (const auto version = version_in(answer.body); version && *version != link_version)
        return fail(error_code::bad_signature,
                    "the standby speaks version {} of what a pair says, and this primary {}; give "
                    "both the same release of posthorn",
                    *version, link_version);
    const auto theirs = answer.kind == link_kind::nonce ? decode_nonce(answer.body) : std::nullopt;
    if (!theirs)
        return fail(error_code::malformed_request, "what answers at {} is not a standby",
                    to_string(to));
    std::ranges::copy(hello.nonce, nonces.begin());
    std::ranges::copy(theirs->nonce, nonces.begin() + nonce_size);
    made.seal_ = link_seal(link_end::primary, key->value, nonces);
    return made;
}

result<> link_channel::say(link_kind kind, std::initializer_list<bytes_view> body) {
    return socket_.write(seal_.seal(kind, body), patience_);
}

result<link_message> link_channel::hear(std::size_t body_max) {
    std::vector<std::byte> whole(link_head_size);
    POSTHORN_TRY(socket_.read(whole, patience_));
    POSTHORN_LET(rest, link_seal::rest_after(whole, body_max));
    whole.resize(link_head_size + rest);
    POSTHORN_TRY(socket_.read(std::span(whole).last(rest), patience_));
    return seal_.open(whole);
}

result<link_message> link_channel::ask(link_kind kind, std::initializer_list<bytes_view> body,
                                       link_kind expected) {
    POSTHORN_TRY(say(kind, body));
    POSTHORN_LET(answer, hear());
    if (answer.kind == expected) return std::move(answer);
    if (answer.kind == link_kind::refused)
        return fail(error_code::access_denied, "the standby refused: {}", words_of(answer.body));
    return fail(error_code::malformed_request, "the standby gave an answer to another question");
}

}  // namespace posthorn::standby
