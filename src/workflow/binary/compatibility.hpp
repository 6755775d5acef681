#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workflow/binary/manifest.hpp"

/// Whether the services that a binary calls are there, as it knows them. Pure.
namespace posthorn {

/// A version of a service, as the registry has it.
struct offered_interface {
    manifest_service contract{};
    bool is_active = false;  // Its service answers, and was not told to stop.
};

enum class mismatch_kind : std::uint8_t {
    not_offered,     // No service has reported the interface.
    not_active,      // One has, and is not there now.
    lacks_message,   // The interface has no such message.
    other_request,   // It has, and takes something else.
    other_response,  // It has, and answers something else.
};
[[nodiscard]] std::string_view to_string(mismatch_kind kind) noexcept;

struct interface_mismatch {
    mismatch_kind kind{};
    std::string interface{};
    std::string endpoint{};  // Empty where it is about the interface.
    bool operator==(const interface_mismatch&) const = default;
};

/// All that does not fit, in the order of the manifest. A binary with any is kept as Inactive, and no
/// workflow begins with it until it is asked for again; the answer names each.
///
/// Schemas fit if they say the same, whatever the order of their members; titles say nothing.
[[nodiscard]] std::vector<interface_mismatch> find_mismatches(
    const binary_manifest& manifest, std::span<const offered_interface> offered);

/// `billing/v1 is offered by no service`
[[nodiscard]] std::string in_words(const interface_mismatch& one);

}  // namespace posthorn
