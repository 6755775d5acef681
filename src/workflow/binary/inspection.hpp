#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "workflow/binary/elf_image.hpp"
#include "workflow/binary/manifest.hpp"
#include "workflow/binary/signed_file.hpp"

namespace posthorn {

/// The function of a binary that its runner calls.
inline constexpr std::string_view workflow_entry_symbol = "posthorn_workflow_batch_1";

/// A file that may be given to a runner.
struct inspected_binary {
    std::span<const std::byte> elf{};  // Of the bytes that were read.
    publisher by{};
    binary_manifest manifest{};
};

/// All that is asked of a file before any of it runs, the signature first: nothing else of a
/// stranger's bytes is looked at. Pure.
[[nodiscard]] inspected<inspected_binary> inspect_binary(std::span<const std::byte> file,
                                                         std::span<const publisher> publishers,
                                                         machine_kind here);

/// The same without the signature, as before it is signed.
[[nodiscard]] inspected<binary_manifest> inspect_elf(std::span<const std::byte> elf,
                                                     machine_kind here);

}  // namespace posthorn
