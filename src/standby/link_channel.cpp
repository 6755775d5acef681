#include "standby/link_channel.hpp"

#include <algorithm>
#include <array>

namespace posthorn::standby {
namespace {

using nonce_pair = std::array<std::byte, 2 * nonce_size>;

}  // namespace

result<link_channel> link_channel::connect(const host_port& to, const secret& pair_key,
                                           random_source& random,
                                           std::chrono::milliseconds patience) {
    POSTHORN_LET(socket, link_socket::connect(to, patience));
    link_channel made(std::move(socket), link_end::primary, patience);
    nonce_pair nonces{};
    const auto ours = std::span(nonces).first<nonce_size>();
    random.fill(ours);
    POSTHORN_LET(answer, made.ask(link_kind::hello, {ours}, link_kind::nonce));
    if (answer.body.size() != nonce_size)
        return fail(error_code::malformed_request, "the standby's nonce is not one");
    std::ranges::copy(answer.body, nonces.begin() + nonce_size);
    made.seal_ = link_seal(link_end::primary, pair_key, nonces);
    return made;
}

result<link_channel> link_channel::answer(link_socket from, const secret& pair_key,
                                          random_source& random,
                                          std::chrono::milliseconds patience) {
    link_channel made(std::move(from), link_end::standby, patience);
    POSTHORN_LET(hello, made.hear());
    if (hello.kind != link_kind::hello || hello.body.size() != nonce_size)
        return fail(error_code::malformed_request, "what came is not a primary's first message");
    nonce_pair nonces{};
    std::ranges::copy(hello.body, nonces.begin());
    const auto ours = std::span(nonces).last<nonce_size>();
    random.fill(ours);
    POSTHORN_TRY(made.say(link_kind::nonce, {ours}));
    made.seal_ = link_seal(link_end::standby, pair_key, nonces);
    return made;
}

result<> link_channel::say(link_kind kind, std::initializer_list<bytes_view> body) {
    return socket_.write(seal_.seal(kind, body), patience_);
}

result<link_message> link_channel::hear() {
    std::vector<std::byte> whole(link_head_size);
    POSTHORN_TRY(socket_.read(whole, patience_));
    POSTHORN_LET(rest, link_seal::rest_after(whole));
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
        return fail(error_code::access_denied, "the standby refused: {}",
                    std::string_view(reinterpret_cast<const char*>(answer.body.data()),
                                     answer.body.size()));
    return fail(error_code::malformed_request, "the standby gave an answer to another question");
}

}  // namespace posthorn::standby
