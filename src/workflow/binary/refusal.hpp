#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/result.hpp"  // POSTHORN_LET and POSTHORN_TRY take these, too.

/// Workflows that are deployed: what is asked of a file before any of it runs. Pure, and bounded:
/// whatever the bytes are, reading them ends soon and takes little memory.
namespace posthorn {

/// Why a file is not taken as a binary of workflows. Each has a name that does not change.
enum class binary_flaw : std::uint8_t {
    truncated,           // Something lies past its end.
    too_large,           // A size, or a number of things, is past its limit.
    not_elf,             // No ELF64 with the low byte first.
    foreign,             // Built for other machines than this one.
    not_a_library,       // A program, or an object file.
    malformed,           // A field has a value that no linker writes.
    overlapping,         // Two parts that are loaded lie on each other.
    writable_code,       // Memory that can be written and run, or relocations in code.
    searches_libraries,  // It names folders to look for libraries in, or ones to put in between.
    needs_library,       // It needs a library that the runner does not have.
    forbidden_import,    // It calls for a clock, chance, threads, files, or what is not known.
    no_entry,            // It lacks the function that the runner calls.
    no_manifest,         // It does not say which workflows are in it.
    manifest_unreadable,
    other_abi,    // It speaks another protocol than the runner.
    linked_only,  // A workflow of it uses what runs in a program alone.
    unsigned_binary,
    unknown_publisher,
    bad_signature,
};

/// `forbidden_import`
[[nodiscard]] std::string_view to_string(binary_flaw flaw) noexcept;

struct binary_refusal {
    binary_flaw flaw{};
    std::string why{};  // A sentence for people, with the value.
};

template <class T = void>
using inspected = std::expected<T, binary_refusal>;

/// `return refuse(binary_flaw::too_large, "it has {} sections, and {} are allowed", seen, most);`
template <class... Args>
[[nodiscard]] std::unexpected<binary_refusal> refuse(binary_flaw flaw,
                                                     fmt::format_string<Args...> text,
                                                     Args&&... args) {
    return std::unexpected(binary_refusal{flaw, fmt::format(text, std::forward<Args>(args)...)});
}

/// A name out of a file, for a sentence: printable, and not too long.
[[nodiscard]] std::string shown_name(std::string_view name);

}  // namespace posthorn
