#include "workflow/binary/inspection.hpp"

#include <utility>

#include "workflow/binary/imports.hpp"

namespace posthorn {

inspected<binary_manifest> inspect_elf(std::span<const std::byte> elf, machine_kind here) {
    POSTHORN_LET(image, read_elf(elf));
    if (image.machine != here)
        return refuse(binary_flaw::foreign, "the binary is for {}, and this engine runs on {}",
                      to_string(image.machine), to_string(here));
    POSTHORN_TRY(check_imports(image));
    if (!image.offers(workflow_entry_symbol))
        return refuse(binary_flaw::no_entry,
                      "the binary lacks the function {}; build it with posthorn_workflow_binary",
                      workflow_entry_symbol);
    return read_manifest(image);
}

inspected<inspected_binary> inspect_binary(std::span<const std::byte> file,
                                           std::span<const publisher> publishers,
                                           machine_kind here) {
    POSTHORN_LET(by, find_publisher(file, publishers));
    POSTHORN_LET(parts, read_signed(file));
    POSTHORN_LET(manifest, inspect_elf(parts.elf, here));
    return inspected_binary{.elf = parts.elf, .by = std::move(by), .manifest = std::move(manifest)};
}

}  // namespace posthorn
