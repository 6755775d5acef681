#include "fuzz/binary_target.hpp"

#include <functional>
#include <span>
#include <string_view>

#include "fuzz/promise.hpp"
#include "workflow/binary/inspection.hpp"

namespace posthorn {
namespace {

using fuzz::demand;

constexpr elf_limits small{.segments_max = 16,
                           .sections_max = 64,
                           .dynamic_entries_max = 64,
                           .symbols_max = 256,
                           .relocations_max = 256,
                           .notes_max = 64,
                           .name_bytes_max = 512};

void look_into(std::string_view file) {
    const auto bytes = std::as_bytes(std::span(file));
    const auto image = read_elf(bytes, small);
    if (!image) return demand(!image.error().why.empty(), "a refusal says why");
    const auto is_inside = [&](std::string_view text) {
        const std::less_equal<> before;
        return text.empty() || (before(file.data(), text.data()) &&
                                before(text.data() + text.size(), file.data() + file.size()));
    };
    for (const auto& each : image->notes)
        demand(is_inside(each.name) && is_inside(each.text), "a note is of the file");
    for (const auto& each : image->imports) demand(is_inside(each.name), "a name is of the file");
    for (const auto each : image->needed) demand(is_inside(each), "a library is of the file");
    for (const auto& each : image->sections) demand(is_inside(each.name), "so is a section");
    demand(image->segments.size() <= small.segments_max, "segments are bounded");
    demand(image->imports.size() + image->exports.size() <= small.symbols_max,
           "symbols are bounded");
    demand(image->notes.size() <= small.notes_max, "notes are bounded");
}

}  // namespace

void fuzz_binary(const std::uint8_t* data, std::size_t size) {
    const auto file = fuzz::text_of(data, size);
    const auto bytes = std::as_bytes(std::span(file));
    look_into(file);
    const auto first = inspect_elf(bytes, machine_kind::x86_64);
    const auto second = inspect_elf(bytes, machine_kind::x86_64);
    demand(first.has_value() == second.has_value(), "a file is judged alike");
    if (first) demand(*first == *second && !first->workflows.empty(), "and read alike");
    if (!first) demand(first.error().why == second.error().why, "and refused alike");
    const publisher known{.name = "ann"};
    demand(!inspect_binary(bytes, {&known, 1}, machine_kind::x86_64), "none signs by chance");
}

}  // namespace posthorn
