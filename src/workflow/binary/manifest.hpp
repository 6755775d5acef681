#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/json/decode.hpp>
#include <posthorn/json/encode.hpp>
#include <posthorn/workflow/manifest.hpp>

#include "workflow/binary/elf_image.hpp"
#include "workflow/binary/refusal.hpp"

/// What a binary says of its workflows, read out of its notes without running it. Pure.
namespace posthorn {

/// What it is called, and which protocol it speaks.
struct manifest_head {
    std::string name{};
    std::string version{};
    unsigned abi = 0;
    bool operator==(const manifest_head&) const = default;
};
POSTHORN_STRUCT(manifest_head)

struct manifest_workflow {
    std::string name{};
    unsigned version = 0;
    raw_json state{};  // These are JSON Schemas.
    std::vector<raw_json> arguments{};
    raw_json result{};
    bool operator==(const manifest_workflow&) const = default;
};
POSTHORN_STRUCT(manifest_workflow)

struct manifest_message {
    std::string name{};
    std::string endpoint{};
    std::string type{};
    raw_json request{};
    raw_json response{};
    bool operator==(const manifest_message&) const = default;
};
POSTHORN_STRUCT(manifest_message)

/// A version of a service that is called, with the messages that it is called with.
struct manifest_service {
    std::string name{};
    unsigned version = 0;
    std::string interface{};
    std::vector<manifest_message> messages{};
    bool operator==(const manifest_service&) const = default;
};
POSTHORN_STRUCT(manifest_service)

/// What comes to a workflow: a signal that is waited for, or a Command that is received.
struct manifest_arrival {
    std::string name{};
    raw_json request{};
    raw_json response{};
    bool operator==(const manifest_arrival&) const = default;
};
POSTHORN_STRUCT(manifest_arrival)

/// Each list in the order of its names, without doubles, so that two readings are the same text.
struct binary_manifest {
    manifest_head head{};
    std::vector<manifest_workflow> workflows{};
    std::vector<manifest_service> services{};
    std::vector<manifest_arrival> waits{};
    std::vector<manifest_arrival> receives{};
    bool operator==(const binary_manifest&) const = default;

    [[nodiscard]] const manifest_workflow* find_workflow(std::string_view name,
                                                         unsigned version) const noexcept;
    /// `billing/v1/Charge`
    [[nodiscard]] const manifest_message* find_call(std::string_view endpoint) const noexcept;
};
POSTHORN_STRUCT(binary_manifest)

struct manifest_limits {
    std::size_t bytes_max = 4UL << 20U;  // Of all notes of ours.
    std::size_t name_bytes_max = 200;
    std::size_t workflows_max = 1000;
};

[[nodiscard]] inspected<binary_manifest> read_manifest(const elf_image& image,
                                                       const manifest_limits& limits = {});

}  // namespace posthorn
