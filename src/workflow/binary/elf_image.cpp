#include "workflow/binary/elf_image.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "workflow/binary/elf_dynamic.hpp"
#include "workflow/binary/elf_format.hpp"

namespace posthorn {
namespace {

constexpr std::string_view magic =
    "\x7f"
    "ELF";
constexpr std::uint64_t alignment_max = 1UL << 21U;

struct elf_head {
    machine_kind machine{};
    std::uint64_t segments_at = 0;
    std::size_t segments = 0;
    std::uint64_t sections_at = 0;
    std::size_t sections = 0;
    std::size_t names_section = 0;
};

inspected<elf_head> read_head(const byte_range& file, const elf_limits& limits) {
    if (file.size() > limits.file_bytes_max)
        return refuse(binary_flaw::too_large, "the file has {} bytes, and {} are allowed",
                      file.size(), limits.file_bytes_max);
    if (!file.text().starts_with(magic.substr(0, std::min(file.size(), magic.size()))) ||
        file.size() == 0)
        return refuse(binary_flaw::not_elf, "the file does not begin as an ELF file does");
    if (file.size() < elf::header_bytes)
        return refuse(binary_flaw::truncated, "the file ends within its header, after {} bytes",
                      file.size());
    if (file.number<std::uint8_t>(4) != elf::class_64 ||
        file.number<std::uint8_t>(5) != elf::data_low_first)
        return refuse(binary_flaw::not_elf,
                      "the file is ELF, but not of 64 bits with the low byte first");
    if (file.number<std::uint8_t>(6) != 1 || file.number<std::uint32_t>(20) != 1)
        return refuse(binary_flaw::not_elf, "the file has another version of ELF than 1");
    elf_head head;
    switch (const auto machine = file.number<std::uint16_t>(18)) {
        case elf::machine_x86_64: head.machine = machine_kind::x86_64; break;
        case elf::machine_aarch64: head.machine = machine_kind::aarch64; break;
        default:
            return refuse(binary_flaw::foreign,
                          "the file is for machines of number {}; x86_64 and aarch64 are known",
                          machine);
    }
    if (file.number<std::uint16_t>(16) != elf::type_shared)
        return refuse(binary_flaw::not_a_library,
                      "the file is not a shared object; link it with posthorn_workflow_binary");
    head.segments_at = file.number<std::uint64_t>(32);
    head.sections_at = file.number<std::uint64_t>(40);
    head.segments = file.number<std::uint16_t>(56);
    head.sections = head.sections_at == 0 ? 0 : file.number<std::uint16_t>(60);
    head.names_section = file.number<std::uint16_t>(62);
    if (file.number<std::uint16_t>(52) != elf::header_bytes ||
        file.number<std::uint16_t>(54) != elf::segment_bytes ||
        (head.sections != 0 && file.number<std::uint16_t>(58) != elf::section_bytes))
        return refuse(binary_flaw::malformed, "the header gives sizes that ELF does not have");
    return head;
}

inspected<> check_load(const elf_segment& one, const elf_segment* before) {
    if ((one.flags & elf::flag_run) != 0 && (one.flags & elf::flag_write) != 0)
        return refuse(binary_flaw::writable_code, "the segment at {:#x} can be written and run",
                      one.address);
    if (one.alignment > alignment_max || !std::has_single_bit(one.alignment) ||
        one.address % one.alignment != one.offset % one.alignment)
        return refuse(binary_flaw::malformed, "the segment at {:#x} is aligned to {}", one.address,
                      one.alignment);
    if (before == nullptr) return {};
    if (one.address < before->address)
        return refuse(binary_flaw::malformed, "the segment at {:#x} comes after one at {:#x}",
                      one.address, before->address);
    // In pages, as they are mapped: the smallest that either machine has.
    constexpr std::uint64_t page = 4096;
    const auto end = before->address + before->memory_size;
    if (one.memory_size != 0 && before->memory_size != 0 &&
        one.address / page < (end - 1) / page + 1)
        return refuse(binary_flaw::overlapping,
                      "the segment at {:#x} begins in the pages of one that ends at {:#x}",
                      one.address, end);
    return {};
}

inspected<elf_segment> read_segment(const byte_range& file, std::uint64_t at,
                                    const elf_limits& limits) {
    const elf_segment one{.kind = file.number<std::uint32_t>(at),
                          .flags = file.number<std::uint32_t>(at + 4),
                          .offset = file.number<std::uint64_t>(at + 8),
                          .address = file.number<std::uint64_t>(at + 16),
                          .file_size = file.number<std::uint64_t>(at + 32),
                          .memory_size = file.number<std::uint64_t>(at + 40),
                          .alignment = file.number<std::uint64_t>(at + 48)};
    if (one.kind == elf::segment_stack) return one;  // Says something, and is nowhere.
    if (!file.holds(one.offset, one.file_size))
        return refuse(binary_flaw::truncated,
                      "a segment has {} bytes from {}, and the file ends at {}", one.file_size,
                      one.offset, file.size());
    if (one.address > limits.memory_bytes_max || one.memory_size > limits.memory_bytes_max ||
        one.address + one.memory_size > limits.memory_bytes_max)
        return refuse(binary_flaw::too_large,
                      "a segment takes {} bytes of memory from {:#x}, and {} are allowed in all",
                      one.memory_size, one.address, limits.memory_bytes_max);
    if (one.memory_size < one.file_size)
        return refuse(binary_flaw::malformed,
                      "a segment takes less memory, {} bytes, than it has in the file, {}",
                      one.memory_size, one.file_size);
    return one;
}

inspected<std::vector<elf_segment>> read_segments(const byte_range& file, const elf_head& head,
                                                  const elf_limits& limits) {
    if (head.segments > limits.segments_max)
        return refuse(binary_flaw::too_large, "the file has {} segments, and {} are allowed",
                      head.segments, limits.segments_max);
    if (!file.holds(head.segments_at, head.segments * elf::segment_bytes))
        return refuse(binary_flaw::truncated,
                      "the table of {} segments at {} ends past the file's end", head.segments,
                      head.segments_at);
    std::vector<elf_segment> all;
    const elf_segment* before = nullptr;
    all.reserve(head.segments);
    for (std::size_t i = 0; i < head.segments; ++i) {
        POSTHORN_LET(one, read_segment(file, head.segments_at + i * elf::segment_bytes, limits));
        all.push_back(one);
        if (one.kind == elf::segment_interpreter)
            return refuse(binary_flaw::not_a_library,
                          "the file is a program; link it with posthorn_workflow_binary");
        if (one.kind != elf::segment_load) continue;
        POSTHORN_TRY(check_load(one, before));
        before = &all.back();
    }
    const auto stack = std::ranges::find(all, elf::segment_stack, &elf_segment::kind);
    if (stack == all.end() || (stack->flags & elf::flag_run) != 0)
        return refuse(binary_flaw::writable_code,
                      "the file asks for a stack that can be run; link it with -z noexecstack");
    return all;
}

inspected<std::vector<elf_section>> read_sections(const byte_range& file, const elf_head& head,
                                                  const elf_limits& limits) {
    std::vector<elf_section> all;
    if (head.sections == 0) return all;
    if (head.sections > limits.sections_max)
        return refuse(binary_flaw::too_large, "the file has {} sections, and {} are allowed",
                      head.sections, limits.sections_max);
    if (!file.holds(head.sections_at, head.sections * elf::section_bytes))
        return refuse(binary_flaw::truncated,
                      "the table of {} sections at {} ends past the file's end", head.sections,
                      head.sections_at);
    if (head.names_section >= head.sections)
        return refuse(binary_flaw::malformed, "the names of sections are to be in section {} of {}",
                      head.names_section, head.sections);
    const auto place = [&](std::size_t index) {
        return head.sections_at + index * elf::section_bytes;
    };
    const auto names = file.part(file.number<std::uint64_t>(place(head.names_section) + 24),
                                 file.number<std::uint64_t>(place(head.names_section) + 32));
    all.reserve(head.sections);
    for (std::size_t i = 0; i < head.sections; ++i) {
        elf_section one{.kind = file.number<std::uint32_t>(place(i) + 4),
                        .address = file.number<std::uint64_t>(place(i) + 16),
                        .offset = file.number<std::uint64_t>(place(i) + 24),
                        .size = file.number<std::uint64_t>(place(i) + 32)};
        const bool has_bytes = i != 0 && one.kind != elf::section_without_bytes;
        if (has_bytes && !file.holds(one.offset, one.size))
            return refuse(binary_flaw::truncated,
                          "section {} has {} bytes from {}, and the file ends at {}", i, one.size,
                          one.offset, file.size());
        const auto named =
            names ? names->text_at(file.number<std::uint32_t>(place(i)), limits.name_bytes_max)
                  : std::nullopt;
        if (!named) return refuse(binary_flaw::malformed, "section {} has no name", i);
        one.name = *named;
        all.push_back(one);
    }
    return all;
}

/// Each note takes twelve bytes at least, so this ends.
inspected<> read_notes_of(const byte_range& bytes, std::uint64_t alignment,
                          const elf_limits& limits, std::vector<elf_note>& into) {
    constexpr std::uint64_t head_bytes = 12;
    const auto round_up = [step = alignment == 8 ? 8U : 4U](std::uint64_t size) {
        return (size + step - 1) / step * step;
    };
    std::uint64_t at = 0;
    while (bytes.holds(at, head_bytes)) {
        if (into.size() == limits.notes_max)
            return refuse(binary_flaw::too_large, "the file has more than {} notes",
                          limits.notes_max);
        const auto name_size = bytes.number<std::uint32_t>(at);
        const auto text_size = bytes.number<std::uint32_t>(at + 4);
        const auto text_at = at + round_up(head_bytes + name_size);
        const auto name = bytes.part(at + head_bytes, name_size);
        const auto text = bytes.part(text_at, text_size);
        if (!name || !text)
            return refuse(binary_flaw::truncated,
                          "a note has a name of {} bytes and a text of {}, and {} are left",
                          name_size, text_size, bytes.size() - at - head_bytes);
        const auto owner = name->text();
        into.push_back({.name = owner.substr(0, owner.find('\0')),
                        .kind = bytes.number<std::uint32_t>(at + 8),
                        .text = text->text()});
        at = text_at + round_up(text_size);
    }
    return {};
}

inspected<std::vector<elf_note>> read_notes(const byte_range& file,
                                            const std::vector<elf_segment>& segments,
                                            const elf_limits& limits) {
    std::vector<elf_note> all;
    for (const auto& each : segments) {
        if (each.kind != elf::segment_note) continue;
        const auto bytes = file.part(each.offset, each.file_size);
        POSTHORN_TRY(read_notes_of(*bytes, each.alignment, limits, all));
    }
    return all;
}

}  // namespace

const elf_section* elf_image::find_section(std::string_view named) const noexcept {
    const auto found = std::ranges::find(sections, named, &elf_section::name);
    return found == sections.end() ? nullptr : &*found;
}

bool elf_image::offers(std::string_view symbol) const noexcept {
    return std::ranges::find(exports, symbol) != exports.end();
}

inspected<elf_image> read_elf(std::span<const std::byte> bytes, const elf_limits& limits) {
    const byte_range file(bytes);
    POSTHORN_LET(head, read_head(file, limits));
    POSTHORN_LET(segments, read_segments(file, head, limits));
    POSTHORN_LET(sections, read_sections(file, head, limits));
    POSTHORN_LET(notes, read_notes(file, segments, limits));
    elf_image image{.machine = head.machine,
                    .segments = std::move(segments),
                    .sections = std::move(sections),
                    .notes = std::move(notes)};
    POSTHORN_TRY(read_dynamic(file, limits, image));
    return image;
}

}  // namespace posthorn
