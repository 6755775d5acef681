#include "standby/door/introduction.hpp"

#include <algorithm>
#include <utility>

#include "base/planted.hpp"
#include "base/text/utf8.hpp"

namespace posthorn::standby {

introduction::introduction(facts with) : with_(std::move(with)) {}

std::size_t introduction::wanted() const {
    switch (stage_) {
        case stage::head_of_hello:
        case stage::head_of_identity: return link_head_size;
        case stage::hello:
        case stage::identity: return rest_;
        case stage::over: break;
    }
    return 0;
}

std::vector<std::byte> introduction::end(std::string why) {
    stage_ = stage::over;
    trouble_ = std::move(why);
    return {};
}

std::vector<std::byte> introduction::refuse(std::string why) {
    auto said = seal_.seal(link_kind::refused, {std::as_bytes(std::span(why))});
    end(std::move(why));
    return said;
}

std::vector<std::byte> introduction::take(bytes_view bytes) {
    if (stage_ == stage::head_of_hello || stage_ == stage::head_of_identity) {
        const auto rest = link_seal::rest_after(bytes, greeting_body_max);
        if (!rest) return end("what came is not a primary's first message");
        head_.assign(bytes.begin(), bytes.end());
        rest_ = *rest;
        stage_ = stage_ == stage::head_of_hello ? stage::hello : stage::identity;
        return {};
    }
    head_.insert(head_.end(), bytes.begin(), bytes.end());
    const auto said = seal_.open(head_);
    head_.clear();
    if (!said)
        return stage_ == stage::hello ? end("what came is not a primary's first message")
                                      : refuse(said.error().what());
    if (stage_ == stage::identity) {
        prove(*said);
        return {};
    }
    if (said->kind != link_kind::hello) return end("what came is not a primary's first message");
    return greet(said->body);
}

std::vector<std::byte> introduction::greet(bytes_view body) {
    const auto version = version_in(body);
    if (!version) return end("what came is not a primary's first message");
    if (*version != link_version)
        return refuse(
            fmt::format("the primary speaks version {} of what a pair says, and this "
                        "standby {}; give both the same release of posthorn",
                        *version, link_version));
    const auto hello = decode_hello(body);
    if (!hello) return end("what came is not a primary's first message");
    if (hello->self != link_end::primary)
        return refuse(
            "this is a standby, and so is what came; point standby.to at a primary's "
            "standby");
    const auto* const key = with_.keys.find(hello->key_id, with_.now);
    if (key == nullptr)
        return refuse(
            fmt::format("this standby does not have the key {}; give both of the pair "
                        "the same file in standby.key",
                        words_of(std::as_bytes(std::span(hello->key_id)))));
    auto said = seal_.seal(link_kind::nonce, {encode(link_nonce{.nonce = with_.nonce})});
    std::array<std::byte, 2 * nonce_size> nonces{};
    std::ranges::copy(hello->nonce, nonces.begin());
    std::ranges::copy(with_.nonce, nonces.begin() + nonce_size);
    seal_ = link_seal(link_end::standby, key->value, nonces);
    stage_ = stage::head_of_identity;
    return said;
}

void introduction::prove(const link_message& said) {
    stage_ = stage::over;
    if (said.kind == link_kind::identity) proven_ = decode_identity(said.body);
    if (!proven_) trouble_ = "a primary did not say who it is";
}

std::string refuse_primary(const link_identity& primary, const standby_self& self) {
    const auto& ours = self.place;
    if (!self.service.empty() && primary.service != self.service)
        return fmt::format("this is a standby of the service {}, and not of {}", self.service,
                           words_of(std::as_bytes(std::span(primary.service))));
    if (ours.phase != standby_phase::empty && ours.stream != primary.stream)
        return "this is the standby of another database; give the primary its own, or an empty "
               "folder here";
    const bool is_newer = ours.epoch > primary.epoch && !POSTHORN_PLANTED(older_epoch_followed);
    if (is_newer || ours.phase == standby_phase::promoted)
        return fmt::format("this is of epoch {}, and you are of {}: you are not the primary",
                           ours.epoch, primary.epoch);
    if (ours.phase == standby_phase::handing && ours.epoch == primary.epoch)
        return fmt::format("this was the primary of epoch {} itself, and gave its role away",
                           ours.epoch);
    return {};
}

std::string refuse_standby(const link_welcome& standby, const link_identity& self) {
    if (!standby.service.empty() && standby.service != self.service)
        return fmt::format("the standby is of the service {}, and this of {}",
                           words_of(std::as_bytes(std::span(standby.service))), self.service);
    if (standby.place.phase != standby_phase::empty && standby.place.stream != self.stream)
        return "the standby is a copy of another database";
    return {};
}

second_primary judge_second(const second_primary_facts& seen) {
    if (seen.is_same_run) return second_primary::takes_over;
    if (seen.other_waits || seen.waited >= seen.patience) return second_primary::is_refused;
    return second_primary::waits;
}

std::string words_of(bytes_view body) {
    const auto some = body.first(std::min(body.size(), refusal_max));
    auto text = clean_utf8({reinterpret_cast<const char*>(some.data()), some.size()}, refusal_max);
    const auto is_control = [](char each) { return (each >= 0 && each < ' ') || each == '\x7f'; };
    std::ranges::replace_if(text, is_control, '?');  // A terminal would obey it.
    return text;
}

}  // namespace posthorn::standby
