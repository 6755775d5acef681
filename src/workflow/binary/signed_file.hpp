#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "security/ed25519.hpp"
#include "workflow/binary/refusal.hpp"

/// A binary with the signature of its publisher behind it, in one file:
///
///     the ELF file | "posthorn-signed1" | public key, 32 bytes | signature, 64 bytes
///
/// What is signed is "posthorn workflow binary 1", a zero, and every byte before the signature. Pure.
namespace posthorn {

/// One whose binaries are taken.
struct publisher {
    std::string name{};
    ed25519_public key{};
};

struct signed_binary {
    std::span<const std::byte> elf{};  // Of the bytes that were read.
    ed25519_public key{};
    ed25519_signature signature{};
};

/// The parts of a file, unchecked.
[[nodiscard]] inspected<signed_binary> read_signed(std::span<const std::byte> file);

/// Who published it, if one of these did and not a byte is another since.
[[nodiscard]] inspected<publisher> find_publisher(std::span<const std::byte> file,
                                                  std::span<const publisher> known);

/// The file with the signature behind it. One that has a signature is signed anew.
[[nodiscard]] std::vector<std::byte> sign_binary(std::span<const std::byte> elf,
                                                 const ed25519_pair& by);

}  // namespace posthorn
