#pragma once

#include <cstddef>
#include <cstdint>

/// Numbers of the ELF format, as far as a shared object of 64 bits has them. Not <elf.h>, whose
/// macros would be everywhere.
namespace posthorn::elf {

inline constexpr std::uint8_t class_64 = 2;
inline constexpr std::uint8_t data_low_first = 1;
inline constexpr std::uint16_t type_shared = 3;
inline constexpr std::uint16_t machine_x86_64 = 62;
inline constexpr std::uint16_t machine_aarch64 = 183;

inline constexpr std::size_t header_bytes = 64;
inline constexpr std::size_t segment_bytes = 56;
inline constexpr std::size_t section_bytes = 64;
inline constexpr std::size_t dynamic_bytes = 16;
inline constexpr std::size_t symbol_bytes = 24;
inline constexpr std::size_t relocation_bytes = 24;

inline constexpr std::uint32_t segment_load = 1;
inline constexpr std::uint32_t segment_dynamic = 2;
inline constexpr std::uint32_t segment_interpreter = 3;
inline constexpr std::uint32_t segment_note = 4;
inline constexpr std::uint32_t segment_tls = 7;
inline constexpr std::uint32_t segment_stack = 0x6474e551;
inline constexpr std::uint32_t flag_run = 1;
inline constexpr std::uint32_t flag_write = 2;

inline constexpr std::uint32_t section_without_bytes = 8;

inline constexpr std::uint64_t tag_needed = 1;
inline constexpr std::uint64_t tag_plt_relocations_bytes = 2;
inline constexpr std::uint64_t tag_hash = 4;
inline constexpr std::uint64_t tag_strings = 5;
inline constexpr std::uint64_t tag_symbols = 6;
inline constexpr std::uint64_t tag_relocations = 7;
inline constexpr std::uint64_t tag_relocations_bytes = 8;
inline constexpr std::uint64_t tag_relocation_bytes = 9;
inline constexpr std::uint64_t tag_strings_bytes = 10;
inline constexpr std::uint64_t tag_symbol_bytes = 11;
inline constexpr std::uint64_t tag_name = 14;
inline constexpr std::uint64_t tag_search_path = 15;
inline constexpr std::uint64_t tag_rel = 17;
inline constexpr std::uint64_t tag_plt_relocations_kind = 20;
inline constexpr std::uint64_t tag_text_relocations = 22;
inline constexpr std::uint64_t tag_plt_relocations = 23;
inline constexpr std::uint64_t tag_run_path = 29;
inline constexpr std::uint64_t tag_flags = 30;
inline constexpr std::uint64_t tag_gnu_hash = 0x6ffffef5;
inline constexpr std::uint64_t tag_dependency_audit = 0x6ffffefb;
inline constexpr std::uint64_t tag_audit = 0x6ffffefc;
inline constexpr std::uint64_t tag_flags_1 = 0x6ffffffb;
inline constexpr std::uint64_t tag_auxiliary = 0x7ffffffd;
inline constexpr std::uint64_t tag_filter = 0x7fffffff;
inline constexpr std::uint64_t flag_text_relocations = 4;
inline constexpr std::uint64_t flag_1_program = 0x08000000;

inline constexpr std::uint8_t binding_local = 0;
inline constexpr std::uint8_t binding_weak = 2;

}  // namespace posthorn::elf
