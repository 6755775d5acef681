#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "security/key_ring.hpp"

namespace posthorn {

/// The keys shared with one peer as a file that people and `posthorn keys` edit. Pure: no I/O.
///
/// A line is `base64:SECRET [from=TIME] [until=TIME] [revoked]`; `#` begins a comment, which may
/// stand behind a key too. The first key that is in force signs, all that are alive verify. Nothing
/// here quotes a line in an error: it could be the secret.
///
/// Threads: one at a time.
class ring_file {
public:
    static constexpr std::size_t keys_max = 64;

    ring_file() = default;
    /// `error_code::invalid_configuration`, which begins with `name:LINE:`, for a line that is not
    /// a key. A text without any key is an empty ring.
    [[nodiscard]] static result<ring_file> parse(std::string_view text, std::string_view name);

    /// The file's new text, comments included. It holds the secrets.
    [[nodiscard]] std::string to_text() const;
    [[nodiscard]] std::vector<signing_key> keys() const;
    [[nodiscard]] key_ring ring() const { return key_ring(keys()); }

    struct rotation {
        wall_time now{};
        std::chrono::milliseconds after{};    // When the new key begins to sign.
        std::chrono::milliseconds overlap{};  // How long the old ones verify from then on.
    };
    /// Puts a new key first and gives the others a date; those past theirs are dropped. Where none
    /// signs now, the new one does at once.
    result<> rotate(secret fresh, const rotation& when);
    /// `error_code::not_found` if no key has this id. One that is revoked stays so.
    result<> revoke(std::string_view id);

private:
    struct line {
        std::optional<signing_key> key{};
        std::string comment{};  // With its `#`; for a line without a key, the line as it was.
    };

    static result<line> parse_line(std::string_view text);
    [[nodiscard]] result<> add(line made);

    std::vector<line> lines_;
};

/// `base64:…`, as a configuration and a ring file take it.
[[nodiscard]] std::string to_base64_text(const secret& value);

}  // namespace posthorn
