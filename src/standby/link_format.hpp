#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "security/secret.hpp"
#include "standby/place.hpp"

namespace posthorn::standby {

// What primary and standby say to each other. Pure. The primary speaks, the standby answers each
// message with one.

/// Of these messages; the two speak the same one, or not at all.
inline constexpr std::uint16_t link_version = 2;

enum class link_kind : std::uint8_t {
    hello = 1,   // Primary: `link_hello`.
    nonce,       // Standby: `link_nonce`. From here on messages are sealed with a key of both.
    identity,    // Primary: `link_identity`.
    place,       // Standby: `link_welcome`.
    follow,      // Primary: goes on from that place.
    generation,  // Primary: a log that begins, by its header.
    frames,      // Primary: `offset`, and frames of the log.
    copy,        // Primary: a copy begins, with the log's header.
    hashes,      // Primary: `page_hashes`.
    wanted,      // Standby: a bit for each of those pages, set where it has another one.
    pages,       // Primary: an offset in the file, and its bytes from there.
    copied,      // Primary: the copy ends; how long the file is.
    done,        // Standby: up to which offset of the log all is on its disk.
    refused,     // Standby: why, in words.
    hand_over,   // Primary: `link_hand_over`.
    taken,       // Standby: the role is its own, which is on its disk.
};
inline constexpr auto last_link_kind = link_kind::taken;

inline constexpr std::size_t link_body_max = std::size_t{1024 + 128} * 1024;
inline constexpr std::size_t greeting_body_max = 2048;  // Before the two have shown their keys.
inline constexpr std::size_t refusal_max = 512;
inline constexpr std::size_t link_head_size = 13;  // Counter, length, kind.
inline constexpr std::size_t link_tag_size = 16;
inline constexpr std::size_t nonce_size = 32;
inline constexpr std::size_t page_hash_size = 16;

struct link_message {
    link_kind kind{};
    std::vector<std::byte> body{};

    bool operator==(const link_message&) const = default;
};

/// Who speaks; the other one's messages cannot be sent back to it.
enum class link_end : std::uint8_t { primary, standby };

/// Seals the messages of one end, each under a number of its own, and opens those of the other.
///
/// Threads: one at a time.
class link_seal {
public:
    /// For messages before there is a key: it finds accidents, not people.
    explicit link_seal(link_end self);
    /// `nonces` are the primary's and the standby's.
    link_seal(link_end self, const secret& pair_key, std::span<const std::byte> nonces);

    [[nodiscard]] std::vector<std::byte> seal(link_kind kind,
                                              std::initializer_list<bytes_view> body);
    /// How many bytes follow a head. `error_code::malformed_request` if it is none of a message of
    /// ours; nothing that it says is believed beyond the limits.
    [[nodiscard]] static result<std::size_t> rest_after(bytes_view head,
                                                        std::size_t body_max = link_body_max);
    /// A whole message, head and all. `error_code::bad_signature` if it is not what the other end
    /// sealed next.
    [[nodiscard]] result<link_message> open(bytes_view whole);

private:
    secret out_;
    secret in_;
    std::uint64_t sent_ = 0;
    std::uint64_t taken_ = 0;
};

using link_nonce_bytes = std::array<std::byte, nonce_size>;
inline constexpr std::size_t key_id_size = 16;

/// How a primary begins: what it speaks, what it is, and which key it is going to prove.
struct link_hello {
    std::uint16_t version = link_version;
    link_end self = link_end::primary;
    std::string key_id{};  // Of `key_id_size` characters.
    link_nonce_bytes nonce{};

    bool operator==(const link_hello&) const = default;
};

/// How a standby answers that.
struct link_nonce {
    std::uint16_t version = link_version;
    link_nonce_bytes nonce{};

    bool operator==(const link_nonce&) const = default;
};

/// Names one run of a process, so that it is known when it comes again.
using run_id = std::array<std::byte, 16>;

/// What a primary says of itself.
struct link_identity {
    stream_id stream{};
    std::uint64_t epoch = 0;
    bool may_lack = false;  // It may answer before the standby has what it answers.
    run_id run{};
    std::string service{};

    bool operator==(const link_identity&) const = default;
};

/// What a standby says of itself.
struct link_welcome {
    standby_place place{};
    bool can_lead = false;  // It would serve, and lead the way to this machine, after a switch.
    std::string service{};

    bool operator==(const link_welcome&) const = default;
};

/// The role changes hands here: up to this place the standby has all, and there is no more.
struct link_hand_over {
    std::uint64_t epoch = 0;  // Of what the standby is from then on.
    log_place at{};

    bool operator==(const link_hand_over&) const = default;
};

/// Pages that follow each other in the file.
struct page_hashes {
    std::uint64_t offset = 0;
    std::uint32_t page_size = 0;
    std::vector<std::array<std::byte, page_hash_size>> hashes{};

    bool operator==(const page_hashes&) const = default;
};

[[nodiscard]] std::vector<std::byte> encode(const link_hello& what);
[[nodiscard]] std::vector<std::byte> encode(const link_nonce& what);
[[nodiscard]] std::vector<std::byte> encode(const link_identity& what);
[[nodiscard]] std::vector<std::byte> encode(const link_welcome& what);
[[nodiscard]] std::vector<std::byte> encode(const link_hand_over& what);
[[nodiscard]] std::vector<std::byte> encode(const page_hashes& what);
[[nodiscard]] std::array<std::byte, 8> encode(std::uint64_t number);

/// Empty if they are anything but the whole of it.
[[nodiscard]] std::optional<link_hello> decode_hello(bytes_view body);
[[nodiscard]] std::optional<link_nonce> decode_nonce(bytes_view body);
[[nodiscard]] std::optional<link_identity> decode_identity(bytes_view body);
[[nodiscard]] std::optional<link_welcome> decode_welcome(bytes_view body);
[[nodiscard]] std::optional<link_hand_over> decode_hand_over(bytes_view body);
/// What version the first message of one is that cannot be read otherwise; empty if it is none.
[[nodiscard]] std::optional<std::uint16_t> version_in(bytes_view body);
[[nodiscard]] std::optional<page_hashes> decode_hashes(bytes_view body);

/// Of one page, for `page_hashes`.
[[nodiscard]] std::array<std::byte, page_hash_size> hash_of_page(bytes_view page);

}  // namespace posthorn::standby
