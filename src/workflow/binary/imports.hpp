#pragma once

#include <cstdint>
#include <string_view>

#include "workflow/binary/elf_image.hpp"

/// What a binary of workflows may call for. This is against mistakes: code that asks a clock does
/// something else when it is repeated. What attacks is held by the sandbox, which asks no names.
namespace posthorn {

enum class import_kind : std::uint8_t {
    allowed,
    clock,
    chance,
    thread,
    outside,  // Files, sockets, processes, the environment.
    unknown,
};

/// By its name in the object, as the linker has it. Pure.
[[nodiscard]] import_kind judge_import(std::string_view symbol) noexcept;

/// Whether the runner has this library, by the name in DT_NEEDED.
[[nodiscard]] bool is_library_there(std::string_view name) noexcept;

/// Libraries and imports of an image: the first that it must not have is told.
[[nodiscard]] inspected<> check_imports(const elf_image& image);

}  // namespace posthorn
