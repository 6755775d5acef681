#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace posthorn {

/// What a node publishes of itself at `/_workflow/metadata`.
struct service_metadata {
    std::string service;
    std::string version;                      // Of Posthorn.
    std::vector<std::string_view> contracts;  // Of the services that it offers, JSON each.
    std::vector<std::string> endpoints;       // Those that it handles beside them.
};

/// As one JSON object, as docs/reference/metadata.schema.json has it.
[[nodiscard]] std::string render_metadata(const service_metadata& of);

/// The contracts that stand in a program, JSON each, found without running it. Once each, in the
/// order of the file.
[[nodiscard]] std::vector<std::string> find_contracts(std::string_view program);

}  // namespace posthorn
