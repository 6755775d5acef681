#include <cstdlib>

#include <CLI/CLI.hpp>

#include "app/cli/kit/admin_source.hpp"

namespace posthorn::cli {

void source_choice::declare(CLI::App& options) {
    file.declare(options);
    options.add_option("--url", node.url, "ask a running node at its admin address")
        ->type_name("URL");
    options.add_option("--key", node.key, "its admin key (the variable POSTHORN_ADMIN_KEY)")
        ->type_name("KEY");
}

result<std::unique_ptr<admin_source>> source_choice::open() const {
    if (node.url.empty()) {
        POSTHORN_LET(settings, file.settings());
        return make_file_source(std::move(settings));
    }
    if (!file.config_file.empty() || !file.database.empty())
        return fail(error_code::invalid_argument,
                    "--url asks a node, --config and --database ask a file; choose one");
    node_address address = node;
    take_kept_key(address);
    return make_node_source(std::move(address));
}

void take_kept_key(node_address& address) {
    const char* const kept = std::getenv("POSTHORN_ADMIN_KEY");
    if (address.key.empty() && kept != nullptr) address.key = kept;
}

}  // namespace posthorn::cli
