#pragma once

#include <optional>
#include <string>

#include <posthorn/detail/time.hpp>

#include "security/key_ring.hpp"
#include "standby/link_format.hpp"
#include "standby/pair_state.hpp"
#include "transport/link/link_lobby.hpp"

namespace posthorn::standby {

/// The standby's half of how the two begin: what a primary says until it has shown that it has the
/// pair's key. Without I/O, and without a byte more memory than such a beginning needs.
///
/// | it says | it is told |
/// |---|---|
/// | a hello of our version, as a primary, with a key that we have | our nonce |
/// | a hello of another version, or as a standby, or with another key | why not, in words |
/// | who it is, sealed with the key | nothing: the session answers |
/// | anything else | nothing |
///
/// Threads: one at a time.
class introduction final : public link_greeting {
public:
    struct facts {
        key_ring keys{};
        wall_time now{};
        link_nonce_bytes nonce{};  // Drawn for this one alone.
    };
    explicit introduction(facts with);

    [[nodiscard]] std::size_t wanted() const override;
    std::vector<std::byte> take(bytes_view bytes) override;

    /// Who has proven to have the key; empty if none has.
    [[nodiscard]] const std::optional<link_identity>& proven() const noexcept { return proven_; }
    /// Why not.
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
    /// Goes on with what was proven.
    [[nodiscard]] link_seal& seal() noexcept { return seal_; }

private:
    enum class stage : std::uint8_t { head_of_hello, hello, head_of_identity, identity, over };

    std::vector<std::byte> greet(bytes_view body);
    std::vector<std::byte> refuse(std::string why);
    std::vector<std::byte> end(std::string why);
    void prove(const link_message& said);

    facts with_;
    link_seal seal_{link_end::standby};
    stage stage_ = stage::head_of_hello;
    std::vector<std::byte> head_;
    std::size_t rest_ = 0;
    std::optional<link_identity> proven_;
    std::string trouble_;
};

/// What a standby knows of itself when a primary comes.
struct standby_self {
    standby_place place{};
    std::string service{};
};

/// Why a standby does not follow a primary; empty if it does. Pure.
///
/// | the primary is | then |
/// |---|---|
/// | of another service | refused |
/// | of another stream, and we are not empty | refused |
/// | of an older epoch, or we were promoted | refused |
/// | of our epoch, while we gave our own role away | refused: it is not the one that took it |
/// | anything else | followed |
[[nodiscard]] std::string refuse_primary(const link_identity& primary, const standby_self& self);
/// Why a primary does not ship to a standby; empty if it may, as far as names go. Pure.
[[nodiscard]] std::string refuse_standby(const link_welcome& standby, const link_identity& self);

/// What becomes of a primary that comes while another one is followed. Pure.
enum class second_primary : std::uint8_t {
    takes_over,  // It is the same process, whose other connection has broken.
    waits,       // The other may just have ended.
    is_refused,  // The other lives: two primaries have one standby.
};
struct second_primary_facts {
    bool is_same_run = false;
    bool other_waits = false;  // One has come before this and waits.
    std::chrono::milliseconds waited{};
    std::chrono::milliseconds patience{};
};
[[nodiscard]] second_primary judge_second(const second_primary_facts& seen);

/// Words of the other end, cut and cleaned, since they go to logs and terminals.
[[nodiscard]] std::string words_of(bytes_view body);

}  // namespace posthorn::standby
