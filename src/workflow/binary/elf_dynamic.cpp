#include "workflow/binary/elf_dynamic.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "workflow/binary/elf_format.hpp"

namespace posthorn {
namespace {

/// Each tag once, but for the libraries that are needed.
struct dynamic_table {
    std::map<std::uint64_t, std::uint64_t> values{};
    std::vector<std::uint64_t> needed{};

    [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t tag) const {
        const auto found = values.find(tag);
        if (found == values.end()) return {};
        return found->second;
    }
    [[nodiscard]] bool has_flag(std::uint64_t tag, std::uint64_t flag) const {
        return (find(tag).value_or(0) & flag) != 0;
    }
};

inspected<dynamic_table> read_table(const byte_range& file, const elf_image& image,
                                    const elf_limits& limits) {
    const auto is_dynamic = [](const elf_segment& one) { return one.kind == elf::segment_dynamic; };
    if (std::ranges::count_if(image.segments, is_dynamic) != 1)
        return refuse(binary_flaw::not_a_library, "the file has not one dynamic table");
    const auto& where = *std::ranges::find_if(image.segments, is_dynamic);
    const auto bytes = *file.part(where.offset, where.file_size);
    dynamic_table table;
    for (std::uint64_t at = 0, count = 0;; at += elf::dynamic_bytes, ++count) {
        if (count == limits.dynamic_entries_max)
            return refuse(binary_flaw::too_large, "the dynamic table has more than {} entries",
                          limits.dynamic_entries_max);
        if (!bytes.holds(at, elf::dynamic_bytes))
            return refuse(binary_flaw::truncated, "the dynamic table does not end");
        const auto tag = bytes.number<std::uint64_t>(at);
        const auto value = bytes.number<std::uint64_t>(at + 8);
        if (tag == 0) return table;
        if (tag == elf::tag_needed) {
            table.needed.push_back(value);
        } else if (!table.values.emplace(tag, value).second) {
            return refuse(binary_flaw::malformed, "the dynamic table has entry {:#x} twice", tag);
        }
    }
}

inspected<> check_table(const dynamic_table& table) {
    for (const auto tag : {elf::tag_search_path, elf::tag_run_path, elf::tag_audit,
                           elf::tag_dependency_audit, elf::tag_filter, elf::tag_auxiliary})
        if (table.find(tag))
            return refuse(binary_flaw::searches_libraries,
                          "the file tells the loader where to look for libraries (entry {:#x}); "
                          "link it without -rpath, -Wl,--filter and the like",
                          tag);
    if (table.find(elf::tag_text_relocations) ||
        table.has_flag(elf::tag_flags, elf::flag_text_relocations))
        return refuse(binary_flaw::writable_code,
                      "its code is changed when it is loaded; compile it with -fPIC");
    if (table.has_flag(elf::tag_flags_1, elf::flag_1_program))
        return refuse(binary_flaw::not_a_library,
                      "the file is a program; link it with posthorn_workflow_binary");
    if (table.find(elf::tag_rel))
        return refuse(binary_flaw::malformed, "it has relocations as 64-bit machines do not have");
    const bool has_sizes =
        table.find(elf::tag_symbol_bytes).value_or(elf::symbol_bytes) == elf::symbol_bytes &&
        table.find(elf::tag_relocation_bytes).value_or(elf::relocation_bytes) ==
            elf::relocation_bytes &&
        table.find(elf::tag_plt_relocations_kind).value_or(elf::tag_relocations) ==
            elf::tag_relocations;
    if (!has_sizes)
        return refuse(binary_flaw::malformed,
                      "the dynamic table gives sizes that ELF does not have");
    return {};
}

/// The bytes of the file that are at this address, to the end of what is loaded there.
std::optional<byte_range> loaded_from(const byte_range& file, const elf_image& image,
                                      std::uint64_t address) {
    for (const auto& each : image.segments)
        if (each.kind == elf::segment_load && address >= each.address &&
            address - each.address < each.file_size)
            return file.part(each.offset + (address - each.address),
                             each.file_size - (address - each.address));
    return {};
}

struct dynamic_reader {
    const byte_range& file;
    const elf_image& image;
    const elf_limits& limits;
    const dynamic_table& table;

    /// What an entry points to; with an entry that says how long it is.
    [[nodiscard]] inspected<byte_range> at(std::uint64_t tag,
                                           std::optional<std::uint64_t> size_tag = {}) const {
        const auto address = table.find(tag);
        if (!address)
            return refuse(binary_flaw::malformed, "the dynamic table lacks entry {:#x}", tag);
        const auto all = loaded_from(file, image, *address);
        if (!all)
            return refuse(binary_flaw::truncated,
                          "entry {:#x} of the dynamic table is {:#x}, where nothing is loaded", tag,
                          *address);
        if (!size_tag) return *all;
        const auto part = all->part(0, table.find(*size_tag).value_or(0));
        if (!part)
            return refuse(binary_flaw::truncated,
                          "entry {:#x} of the dynamic table says {} bytes, and {} are loaded",
                          *size_tag, table.find(*size_tag).value_or(0), all->size());
        return *part;
    }

    [[nodiscard]] inspected<std::size_t> checked_count(std::uint64_t count) const {
        if (count > limits.symbols_max)
            return refuse(binary_flaw::too_large, "the file has {} symbols, and {} are allowed",
                          count, limits.symbols_max);
        return static_cast<std::size_t>(count);
    }

    /// The table of symbols does not say how long it is; the tables that find them do.
    [[nodiscard]] inspected<std::size_t> count_symbols() const {
        if (table.find(elf::tag_hash)) {
            POSTHORN_LET(hash, at(elf::tag_hash));
            if (!hash.holds(0, 8))
                return refuse(binary_flaw::truncated, "the table of hashes is cut off");
            return checked_count(hash.number<std::uint32_t>(4));
        }
        POSTHORN_LET(hash, at(elf::tag_gnu_hash));
        return count_by_gnu_hash(hash);
    }

    [[nodiscard]] inspected<std::size_t> count_by_gnu_hash(const byte_range& hash) const {
        const auto buckets = std::uint64_t{hash.number<std::uint32_t>(0)};
        const auto first = std::uint64_t{hash.number<std::uint32_t>(4)};
        const auto words = std::uint64_t{hash.number<std::uint32_t>(8)};
        const auto buckets_at = 16 + words * 8;
        if (!hash.holds(0, 16) || !hash.holds(buckets_at, buckets * 4))
            return refuse(binary_flaw::truncated,
                          "the table of hashes has {} buckets and {} words, and is cut off",
                          buckets, words);
        std::uint64_t last = 0;
        for (std::uint64_t i = 0; i < buckets; ++i)
            last = std::max<std::uint64_t>(last, hash.number<std::uint32_t>(buckets_at + i * 4));
        if (last == 0) return checked_count(first);
        if (last < first)
            return refuse(binary_flaw::malformed,
                          "the table of hashes begins with symbol {}, "
                          "which is before {}",
                          last, first);
        // A chain ends with an odd number; one that does not, at the end of what is loaded.
        for (const auto chains_at = buckets_at + buckets * 4;; ++last) {
            const auto at = chains_at + (last - first) * 4;
            if (last > limits.symbols_max) return checked_count(last);
            if (!hash.holds(at, 4)) break;
            if ((hash.number<std::uint32_t>(at) & 1U) != 0) return checked_count(last + 1);
        }
        return refuse(binary_flaw::truncated, "a chain in the table of hashes does not end");
    }

    [[nodiscard]] inspected<> check_relocations(std::uint64_t tag, std::uint64_t size_tag,
                                                std::size_t symbols) const {
        if (!table.find(tag)) return {};
        POSTHORN_LET(bytes, at(tag, size_tag));
        const auto count = bytes.size() / elf::relocation_bytes;
        if (count > limits.relocations_max)
            return refuse(binary_flaw::too_large, "the file has {} relocations, and {} are allowed",
                          count, limits.relocations_max);
        for (std::size_t i = 0; i < count; ++i) {
            const auto symbol = bytes.number<std::uint32_t>(i * elf::relocation_bytes + 12);
            if (symbol >= symbols && symbol != 0)
                return refuse(binary_flaw::malformed,
                              "a relocation is about symbol {}, and there are {}", symbol, symbols);
        }
        return {};
    }

    [[nodiscard]] inspected<std::string_view> name_at(const byte_range& names,
                                                      std::uint64_t at) const {
        const auto found = names.text_at(at, limits.name_bytes_max);
        if (!found)
            return refuse(binary_flaw::malformed,
                          "a name of the dynamic table at {} has no end within {} bytes", at,
                          limits.name_bytes_max);
        return *found;
    }

    [[nodiscard]] inspected<> read_symbols(const byte_range& names, std::size_t count,
                                           elf_image& into) const {
        POSTHORN_LET(symbols, at(elf::tag_symbols));
        if (!symbols.holds(0, count * elf::symbol_bytes))
            return refuse(binary_flaw::truncated, "the table of {} symbols is cut off", count);
        for (std::size_t i = 1; i < count; ++i) {
            const auto place = i * elf::symbol_bytes;
            const auto info = symbols.number<std::uint8_t>(place + 4);
            const auto section = symbols.number<std::uint16_t>(place + 6);
            if (info >> 4U == elf::binding_local) continue;
            POSTHORN_LET(name, name_at(names, symbols.number<std::uint32_t>(place)));
            if (section == 0)
                into.imports.push_back({.name = name, .is_weak = info >> 4U == elf::binding_weak});
            else
                into.exports.push_back(name);
        }
        return {};
    }
};

}  // namespace

inspected<> read_dynamic(const byte_range& file, const elf_limits& limits, elf_image& into) {
    POSTHORN_LET(table, read_table(file, into, limits));
    POSTHORN_TRY(check_table(table));
    const dynamic_reader reader{file, into, limits, table};
    POSTHORN_LET(names, reader.at(elf::tag_strings, elf::tag_strings_bytes));
    std::vector<std::string_view> needed;
    for (const auto each : table.needed) {
        POSTHORN_LET(name, reader.name_at(names, each));
        needed.push_back(name);
    }
    into.needed = std::move(needed);
    if (const auto named = table.find(elf::tag_name)) {
        POSTHORN_LET(name, reader.name_at(names, *named));
        into.name = name;
    }
    POSTHORN_LET(count, reader.count_symbols());
    POSTHORN_TRY(reader.check_relocations(elf::tag_relocations, elf::tag_relocations_bytes, count));
    POSTHORN_TRY(
        reader.check_relocations(elf::tag_plt_relocations, elf::tag_plt_relocations_bytes, count));
    return reader.read_symbols(names, count, into);
}

}  // namespace posthorn
