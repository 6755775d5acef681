#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workflow/binary/byte_range.hpp"
#include "workflow/binary/machine.hpp"
#include "workflow/binary/refusal.hpp"

namespace posthorn {

/// What no binary of workflows gets near, and each is told by name past it.
struct elf_limits {
    std::size_t file_bytes_max = 64UL << 20U;
    std::uint64_t memory_bytes_max = 256UL << 20U;  // That its segments take once loaded.
    std::size_t segments_max = 64;
    std::size_t sections_max = 4096;
    std::size_t dynamic_entries_max = 1024;
    std::size_t symbols_max = 200'000;
    std::size_t relocations_max = 2'000'000;
    std::size_t notes_max = 16'384;
    std::size_t name_bytes_max = 16'384;
};

struct elf_segment {
    std::uint32_t kind = 0;
    std::uint32_t flags = 0;
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint64_t file_size = 0;
    std::uint64_t memory_size = 0;
    std::uint64_t alignment = 0;
};

struct elf_section {
    std::string_view name{};
    std::uint32_t kind = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

struct elf_note {
    std::string_view name{};
    std::uint32_t kind = 0;
    std::string_view text{};
};

struct elf_symbol {
    std::string_view name{};
    bool is_weak = false;
};

/// A shared object as its loader will see it: by its segments and its dynamic table, not by its
/// sections, which a loader does not look at and an attacker may write as they like.
///
/// Lifetime: the texts are of the bytes that were read.
struct elf_image {
    machine_kind machine{};
    std::vector<elf_segment> segments{};
    std::vector<elf_section> sections{};  // Empty in a file without a table of them.
    std::vector<elf_note> notes{};
    std::string_view name{};
    std::vector<std::string_view> needed{};
    std::vector<elf_symbol> imports{};
    std::vector<std::string_view> exports{};

    [[nodiscard]] const elf_section* find_section(std::string_view named) const noexcept;
    [[nodiscard]] bool offers(std::string_view symbol) const noexcept;
};

[[nodiscard]] inspected<elf_image> read_elf(std::span<const std::byte> file,
                                            const elf_limits& limits = {});

}  // namespace posthorn
