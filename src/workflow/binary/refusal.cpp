#include "workflow/binary/refusal.hpp"

namespace posthorn {

std::string_view to_string(binary_flaw flaw) noexcept {
    switch (flaw) {
        case binary_flaw::truncated: return "truncated";
        case binary_flaw::too_large: return "too_large";
        case binary_flaw::not_elf: return "not_elf";
        case binary_flaw::foreign: return "foreign";
        case binary_flaw::not_a_library: return "not_a_library";
        case binary_flaw::malformed: return "malformed";
        case binary_flaw::overlapping: return "overlapping";
        case binary_flaw::writable_code: return "writable_code";
        case binary_flaw::searches_libraries: return "searches_libraries";
        case binary_flaw::needs_library: return "needs_library";
        case binary_flaw::forbidden_import: return "forbidden_import";
        case binary_flaw::no_entry: return "no_entry";
        case binary_flaw::no_manifest: return "no_manifest";
        case binary_flaw::manifest_unreadable: return "manifest_unreadable";
        case binary_flaw::other_abi: return "other_abi";
        case binary_flaw::linked_only: return "linked_only";
        case binary_flaw::unsigned_binary: return "unsigned";
        case binary_flaw::unknown_publisher: return "unknown_publisher";
        case binary_flaw::bad_signature: return "bad_signature";
    }
    return "malformed";
}

std::string shown_name(std::string_view name) {
    constexpr std::size_t bytes_max = 120;
    std::string shown;
    for (const char each : name.substr(0, bytes_max))
        shown += each > ' ' && each < '\x7f' ? each : '?';
    if (name.size() > bytes_max) shown += "…";
    return shown;
}

}  // namespace posthorn
