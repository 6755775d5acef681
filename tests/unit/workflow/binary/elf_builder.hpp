#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workflow/binary/elf_format.hpp"
#include "workflow/binary/inspection.hpp"

namespace posthorn::test {

/// Writes small shared objects, as a linker would, but for what a test asks to be otherwise.
///
/// Everything is in one segment that is loaded from the file's beginning, so that an address is a
/// place in the file.
class elf_builder {
public:
    struct note {
        std::string name;
        std::uint32_t kind = 0;
        std::string text;
    };
    struct segment {
        std::uint32_t kind = 0;
        std::uint32_t flags = 4;
        std::uint64_t offset = 0;
        std::uint64_t address = 0;
        std::uint64_t file_size = 0;
        std::uint64_t memory_size = 0;
        std::uint64_t alignment = 4096;
    };

    std::uint16_t machine = elf::machine_x86_64;
    std::uint16_t type = elf::type_shared;
    std::vector<std::string> needed{"libc.so.6", "libstdc++.so.6"};
    std::vector<std::string> imports{"malloc", "memcpy"};
    std::vector<std::string> weak_imports{"__cxa_finalize"};
    std::vector<std::string> exports{std::string(workflow_entry_symbol)};
    std::vector<note> notes{};
    std::vector<std::pair<std::uint64_t, std::uint64_t>> more_dynamic{};
    std::vector<segment> more_segments{};
    bool has_gnu_hash = true;
    bool has_stack_note = true;
    std::uint32_t stack_flags = 6;
    std::uint64_t dynamic_entries_cut = 0;  // How many of the last ones are left out.

    [[nodiscard]] std::string build() {
        std::string file(elf::header_bytes, '\0');
        const auto segments_at = file.size();
        const auto segments = 3 + (has_stack_note ? 1U : 0U) + more_segments.size();
        file.resize(file.size() + segments * elf::segment_bytes);

        std::string names(1, '\0');
        const auto name = [&](std::string_view text) {
            const auto at = names.size();
            names.append(text).append(1, '\0');
            return at;
        };
        std::string symbols(elf::symbol_bytes, '\0');
        const auto symbol = [&](std::string_view text, std::uint8_t binding, std::uint16_t where) {
            const auto at = symbols.size();
            symbols.resize(at + elf::symbol_bytes);
            put(symbols, at, static_cast<std::uint32_t>(name(text)));
            put(symbols, at + 4, static_cast<std::uint8_t>((unsigned{binding} << 4U) | 2U));
            put(symbols, at + 6, where);
        };
        for (const auto& each : imports) symbol(each, 1, 0);
        for (const auto& each : weak_imports) symbol(each, elf::binding_weak, 0);
        for (const auto& each : exports) symbol(each, 1, 1);
        const auto count = static_cast<std::uint32_t>(symbols.size() / elf::symbol_bytes);

        std::string dynamic;
        const auto entry = [&](std::uint64_t tag, std::uint64_t value) {
            const auto at = dynamic.size();
            dynamic.resize(at + elf::dynamic_bytes);
            put(dynamic, at, tag);
            put(dynamic, at + 8, value);
        };
        for (const auto& each : needed) entry(elf::tag_needed, name(each));
        entry(elf::tag_name, name("libflows.so"));
        const auto hash = has_gnu_hash ? gnu_hash(count) : plain_hash(count);
        symbols_at = append(file, symbols);
        names_at = append(file, names);
        hash_at = append(file, hash);
        entry(elf::tag_symbols, symbols_at);
        entry(elf::tag_symbol_bytes, elf::symbol_bytes);
        entry(elf::tag_strings, names_at);
        entry(elf::tag_strings_bytes, names.size());
        entry(has_gnu_hash ? elf::tag_gnu_hash : elf::tag_hash, hash_at);
        for (const auto& [tag, value] : more_dynamic) entry(tag, value);
        entry(0, 0);
        dynamic.resize(dynamic.size() - dynamic_entries_cut * elf::dynamic_bytes);
        dynamic_at = append(file, dynamic);
        std::string all_notes;
        for (const auto& each : notes) all_notes += written(each);
        notes_at = append(file, all_notes);
        sections_at = append_sections(file);

        auto at = segments_at;
        put_segment(file, at, {elf::segment_load, 4, 0, 0, file.size(), file.size()});
        put_segment(
            file, at,
            {elf::segment_dynamic, 4, dynamic_at, dynamic_at, dynamic.size(), dynamic.size(), 8});
        put_segment(
            file, at,
            {elf::segment_note, 4, notes_at, notes_at, all_notes.size(), all_notes.size(), 4});
        if (has_stack_note)
            put_segment(file, at, {elf::segment_stack, stack_flags, 0, 0, 0, 0, 16});
        for (const auto& each : more_segments) put_segment(file, at, each);
        put_head(file, segments_at, segments);
        return file;
    }

    template <class Number>
    static void put(std::string& to, std::uint64_t at, Number value) {
        std::memcpy(to.data() + at, &value, sizeof value);
    }

    // Where things are in what was built last.
    std::uint64_t symbols_at = 0;
    std::uint64_t names_at = 0;
    std::uint64_t hash_at = 0;
    std::uint64_t dynamic_at = 0;
    std::uint64_t notes_at = 0;
    std::uint64_t sections_at = 0;
    static constexpr std::uint64_t first_segment_at = elf::header_bytes;

private:
    static std::uint64_t append(std::string& file, std::string_view bytes) {
        file.resize((file.size() + 7) / 8 * 8);
        const auto at = file.size();
        file += bytes;
        return at;
    }

    /// All but the first symbol in one chain.
    static std::string gnu_hash(std::uint32_t count) {
        std::string hash(16 + 8 + 4, '\0');
        put(hash, 0, std::uint32_t{1});
        put(hash, 4, std::uint32_t{1});
        put(hash, 8, std::uint32_t{1});
        put(hash, 24, std::uint32_t{1});
        for (std::uint32_t i = 1; i < count; ++i) {
            hash.resize(hash.size() + 4);
            put(hash, hash.size() - 4, std::uint32_t{i + 1 == count ? 3U : 2U});
        }
        return hash;
    }
    static std::string plain_hash(std::uint32_t count) {
        std::string hash(8, '\0');
        put(hash, 0, std::uint32_t{1});
        put(hash, 4, count);
        return hash;
    }
    static std::string written(const note& one) {
        std::string text(12, '\0');
        put(text, 0, static_cast<std::uint32_t>(one.name.size() + 1));
        put(text, 4, static_cast<std::uint32_t>(one.text.size()));
        put(text, 8, one.kind);
        text.append(one.name).append(1, '\0');
        text.resize((text.size() + 3) / 4 * 4);
        text += one.text;
        text.resize((text.size() + 3) / 4 * 4);
        return text;
    }
    std::uint64_t append_sections(std::string& file) const {
        const std::string_view names{"\0.note.posthorn\0.names\0", 23};
        const auto names_place = append(file, names);
        std::string table(3 * elf::section_bytes, '\0');
        const auto describe = [&](std::size_t index, std::uint32_t named, std::uint64_t at,
                                  std::uint64_t size) {
            put(table, index * elf::section_bytes, named);
            put(table, index * elf::section_bytes + 4, std::uint32_t{7});
            put(table, index * elf::section_bytes + 24, at);
            put(table, index * elf::section_bytes + 32, size);
        };
        describe(1, 1, notes_at, names_place - notes_at);
        describe(2, 16, names_place, names.size());
        return append(file, table);
    }
    static void put_segment(std::string& file, std::uint64_t& at, const segment& one) {
        put(file, at, one.kind);
        put(file, at + 4, one.flags);
        put(file, at + 8, one.offset);
        put(file, at + 16, one.address);
        put(file, at + 32, one.file_size);
        put(file, at + 40, one.memory_size);
        put(file, at + 48, one.alignment);
        at += elf::segment_bytes;
    }
    void put_head(std::string& file, std::uint64_t segments_at, std::uint64_t segments) const {
        file.replace(0, 7,
                     std::string_view("\x7f"
                                      "ELF\x02\x01\x01",
                                      7));
        put(file, 16, type);
        put(file, 18, machine);
        put(file, 20, std::uint32_t{1});
        put(file, 32, segments_at);
        put(file, 40, sections_at);
        put(file, 52, std::uint16_t{elf::header_bytes});
        put(file, 54, std::uint16_t{elf::segment_bytes});
        put(file, 56, static_cast<std::uint16_t>(segments));
        put(file, 58, std::uint16_t{elf::section_bytes});
        put(file, 60, std::uint16_t{3});
        put(file, 62, std::uint16_t{2});
    }
};

inline std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// What `posthorn_workflow_binary` would leave in it.
inline elf_builder binary_of_workflows() {
    elf_builder made;
    made.notes = {
        {"Posthorn", 1, R"({"name":"orders","version":"1.0","abi":1})"},
        {"Posthorn", 2,
         R"({"name":"ApproveOrder","version":1,"state":{},"arguments":[{}],"result":null})"},
        {"Posthorn", 3,
         R"({"name":"billing","version":1,"interface":"billing/v1","messages":[{"name":"Charge",)"
         R"("endpoint":"billing/v1/Charge","type":"Command","request":{},"response":{}}]})"},
        {"Posthorn", 4, R"({"name":"Decided","request":{},"response":null})"},
        {"GNU", 3, "0123456789"},
    };
    return made;
}

}  // namespace posthorn::test
