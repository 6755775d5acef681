#include "workflow/binary/elf_image.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/workflow/binary/elf_builder.hpp"

namespace posthorn {
namespace {

using test::bytes_of;
using test::elf_builder;
using testing::ElementsAre;

/// `accepted`, or the name of what is wrong.
std::string read(std::string_view file, const elf_limits& limits = {}) {
    const auto seen = read_elf(bytes_of(file), limits);
    return seen ? "accepted" : std::string(to_string(seen.error().flaw));
}

TEST(elf_image, has_what_a_linker_wrote) {
    auto made = test::binary_of_workflows();
    const auto file = made.build();
    const auto image = read_elf(bytes_of(file));
    ASSERT_TRUE(image) << image.error().why;
    EXPECT_EQ(image->machine, machine_kind::x86_64);
    EXPECT_EQ(image->name, "libflows.so");
    EXPECT_THAT(image->needed, ElementsAre("libc.so.6", "libstdc++.so.6"));
    ASSERT_EQ(image->imports.size(), 3U);
    EXPECT_EQ(image->imports[0].name, "malloc");
    EXPECT_FALSE(image->imports[1].is_weak);
    EXPECT_EQ(image->imports[2].name, "__cxa_finalize");
    EXPECT_TRUE(image->imports[2].is_weak);
    EXPECT_TRUE(image->offers(workflow_entry_symbol));
    EXPECT_FALSE(image->offers("malloc"));
    ASSERT_EQ(image->notes.size(), 5U);
    EXPECT_EQ(image->notes[4].name, "GNU");
    EXPECT_EQ(image->notes[4].text, "0123456789");
    ASSERT_NE(image->find_section(".note.posthorn"), nullptr);
    EXPECT_EQ(image->find_section(".note.posthorn")->offset, made.notes_at);
    EXPECT_EQ(image->find_section(".text"), nullptr);
}

TEST(elf_image, is_of_either_machine_and_counts_symbols_by_either_table) {
    elf_builder made;
    made.machine = elf::machine_aarch64;
    made.has_gnu_hash = false;
    const auto file = made.build();
    const auto image = read_elf(bytes_of(file));
    ASSERT_TRUE(image) << image.error().why;
    EXPECT_EQ(image->machine, machine_kind::aarch64);
    EXPECT_EQ(image->imports.size(), 3U);
}

TEST(elf_image, does_without_a_table_of_sections) {
    elf_builder made;
    auto file = made.build();
    elf_builder::put(file, 40, std::uint64_t{0});
    const auto image = read_elf(bytes_of(file));
    ASSERT_TRUE(image) << image.error().why;
    EXPECT_TRUE(image->sections.empty());
    EXPECT_EQ(image->imports.size(), 3U);
}

TEST(elf_image, is_refused_by_name_when_its_header_is_another) {
    EXPECT_EQ(read(""), "not_elf");
    EXPECT_EQ(read("#!/bin/sh\n"), "not_elf");
    EXPECT_EQ(read("\x7f"
                   "EL"),
              "truncated");
    const auto good = elf_builder().build();
    struct change {
        std::size_t at;
        std::string bytes;
        std::string_view flaw;
    };
    const std::vector<change> changes{
        {0, "\x7e", "not_elf"},
        {4, "\x01", "not_elf"},         // 32 bits
        {5, "\x02", "not_elf"},         // The high byte first.
        {6, "\x02", "not_elf"},         // A version.
        {16, "\x02", "not_a_library"},  // A program at a fixed place.
        {16, "\x01", "not_a_library"},  // An object.
        {18, "\x28", "foreign"},        // ARM of 32 bits.
        {18, "\xf3", "foreign"},        // RISC-V
        {32, "\xff\xff\xff\xff\xff\xff\xff\xff", "truncated"},
        {40, "\xff\xff\xff\xff\xff\xff\xff\x7f", "truncated"},
        {52, "\x20", "malformed"},
        {54, "\x20", "malformed"},
        {56, "\xff\xff", "too_large"},
        {58, "\x20", "malformed"},
        {60, "\xff\xff", "too_large"},
        {62, "\x09", "malformed"},
    };
    for (const auto& each : changes) {
        auto file = good;
        file.replace(each.at, each.bytes.size(), each.bytes);
        EXPECT_EQ(read(file), each.flaw) << "at " << each.at;
    }
}

TEST(elf_image, is_refused_wherever_it_is_cut) {
    const auto good = test::binary_of_workflows().build();
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_NE(read(good.substr(0, size)), "accepted") << size;
}

TEST(elf_image, is_refused_by_name_for_what_a_builder_writes_otherwise) {
    struct change {
        std::string_view what;
        std::function<void(elf_builder&)> make;
        std::string_view flaw;
    };
    using segment = elf_builder::segment;
    const auto with_segment = [](segment one) {
        return [one](elf_builder& made) { made.more_segments.push_back(one); };
    };
    const auto with_entry = [](std::uint64_t tag, std::uint64_t value) {
        return [=](elf_builder& made) { made.more_dynamic.emplace_back(tag, value); };
    };
    const std::vector<change> changes{
        {"over the first", with_segment({elf::segment_load, 4, 0, 0, 64, 64}), "overlapping"},
        {"in its last page", with_segment({elf::segment_load, 4, 0x20, 0x20, 64, 64, 1}),
         "overlapping"},
        {"written and run", with_segment({elf::segment_load, 7, 0, 0x10000, 8, 8}),
         "writable_code"},
        {"past the file", with_segment({elf::segment_load, 4, 1UL << 40U, 0x10000, 8, 8}),
         "truncated"},
        {"round the end of numbers", with_segment({elf::segment_load, 4, ~0UL - 3, 0x10000, 8, 8}),
         "truncated"},
        {"huge", with_segment({elf::segment_load, 6, 0, 0x10000, 8, 1UL << 40U}), "too_large"},
        {"far", with_segment({elf::segment_load, 6, 0, ~0UL - 4095, 8, 8192}), "too_large"},
        {"less than it has", with_segment({elf::segment_load, 4, 0, 0x10000, 64, 8}), "malformed"},
        {"oddly aligned", with_segment({elf::segment_load, 4, 0, 0x10000, 8, 8, 3}), "malformed"},
        {"out of step", with_segment({elf::segment_load, 4, 8, 0x10000, 8, 8}), "malformed"},
        {"a program", with_segment({elf::segment_interpreter, 4, 0, 0, 8, 8}), "not_a_library"},
        {"two tables", with_segment({elf::segment_dynamic, 4, 0, 0, 16, 16}), "not_a_library"},
        {"a long note", with_segment({elf::segment_note, 4, 0, 0, 64, 64}), "truncated"},
        {"a stack to run", [](elf_builder& made) { made.stack_flags = 7; }, "writable_code"},
        {"no word on it", [](elf_builder& made) { made.has_stack_note = false; }, "writable_code"},
        {"rpath", with_entry(elf::tag_search_path, 1), "searches_libraries"},
        {"runpath", with_entry(elf::tag_run_path, 1), "searches_libraries"},
        {"audit", with_entry(elf::tag_audit, 1), "searches_libraries"},
        {"depaudit", with_entry(elf::tag_dependency_audit, 1), "searches_libraries"},
        {"filter", with_entry(elf::tag_filter, 1), "searches_libraries"},
        {"auxiliary", with_entry(elf::tag_auxiliary, 1), "searches_libraries"},
        {"textrel", with_entry(elf::tag_text_relocations, 0), "writable_code"},
        {"textrel flag", with_entry(elf::tag_flags, 4), "writable_code"},
        {"pie", with_entry(elf::tag_flags_1, 0x08000001), "not_a_library"},
        {"rel", with_entry(elf::tag_rel, 0), "malformed"},
        {"an entry twice", with_entry(elf::tag_strings, 8), "malformed"},
        {"a long name", with_entry(elf::tag_needed, 1UL << 40U), "malformed"},
        {"relocations nowhere", with_entry(elf::tag_relocations, 1UL << 40U), "truncated"},
        {"no end", [](elf_builder& made) { made.dynamic_entries_cut = 1; }, "truncated"},
        {"no hash", [](elf_builder& made) { made.dynamic_entries_cut = 2; }, "truncated"},
    };
    for (const auto& each : changes) {
        elf_builder made;
        each.make(made);
        EXPECT_EQ(read(made.build()), each.flaw) << each.what;
    }
}

TEST(elf_image, ends_with_a_chain_of_hashes_that_does_not) {
    elf_builder made;
    auto file = made.build();
    // All chains even, to the end of the file.
    for (auto at = made.hash_at + 28; at + 4 <= file.size(); at += 4)
        if (at < made.dynamic_at) elf_builder::put(file, at, std::uint32_t{2});
    auto chain = file;
    elf_builder::put(chain, made.hash_at + 24, std::uint32_t{0xffffffff});
    EXPECT_EQ(read(chain), "too_large");
    elf_builder::put(chain, made.hash_at + 24, std::uint32_t{1});
    elf_builder::put(chain, made.hash_at + 4, std::uint32_t{2});
    EXPECT_EQ(read(chain), "malformed");
    elf_builder::put(chain, made.hash_at, std::uint32_t{0xffffffff});
    EXPECT_EQ(read(chain), "truncated");
    elf_builder::put(chain, made.hash_at, std::uint32_t{0});
    elf_builder::put(chain, made.hash_at + 4, std::uint32_t{0xffffffff});
    EXPECT_EQ(read(chain), "too_large");
}

TEST(elf_image, has_no_symbol_that_only_a_relocation_knows) {
    elf_builder made;
    made.more_dynamic = {{elf::tag_relocations, 0}, {elf::tag_relocations_bytes, 24}};
    static_cast<void>(made.build());
    made.more_dynamic[0].second = made.notes_at;
    made.notes = {{"x", 1, std::string(64, '\x7f')}};
    EXPECT_EQ(read(made.build()), "malformed");
}

TEST(elf_image, keeps_its_limits) {
    auto made = test::binary_of_workflows();
    const auto file = made.build();
    EXPECT_EQ(read(file, {.file_bytes_max = file.size() - 1}), "too_large");
    EXPECT_EQ(read(file, {.memory_bytes_max = file.size() - 1}), "too_large");
    EXPECT_EQ(read(file, {.segments_max = 3}), "too_large");
    EXPECT_EQ(read(file, {.sections_max = 2}), "too_large");
    EXPECT_EQ(read(file, {.dynamic_entries_max = 4}), "too_large");
    EXPECT_EQ(read(file, {.symbols_max = 3}), "too_large");
    EXPECT_EQ(read(file, {.notes_max = 4}), "too_large");
    EXPECT_EQ(read(file, {.name_bytes_max = 8}), "malformed");
    EXPECT_EQ(read(file), "accepted");
}

}  // namespace
}  // namespace posthorn
