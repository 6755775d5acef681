#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "security/secret.hpp"

namespace posthorn {

/// Seals secrets for a database that others may read, with AES-256-GCM.
///
/// What is sealed says under which key, and is bound to where it lies: a secret that was copied to
/// another row, or to another tenant's, does not open there.
///
/// Threads: any.
class secret_box {
public:
    static constexpr std::size_t key_bytes = 32;

    /// Seals with the first key and opens with each, so that keys can be changed. Fails with
    /// `secret_unavailable` without a key, or with one that is not of 32 bytes.
    [[nodiscard]] static result<secret_box> make(std::vector<secret> keys);

    /// Text that fits into a column. `place` names the row; the same is given to open it.
    [[nodiscard]] std::string seal(const secret& plain, std::string_view place,
                                   random_source& random) const;
    /// Fails with `secret_unavailable`, saying whether the key is missing or the text is not what
    /// was sealed for this place.
    [[nodiscard]] result<secret> open(std::string_view sealed, std::string_view place) const;

    /// Whether it was sealed under another key than new ones are.
    [[nodiscard]] bool is_old(std::string_view sealed) const;

private:
    struct named_key {
        std::string name;  // Tells keys apart, and nothing of what they are.
        secret key;
    };

    explicit secret_box(std::vector<named_key> keys) : keys_(std::move(keys)) {}

    std::vector<named_key> keys_;
};

}  // namespace posthorn
