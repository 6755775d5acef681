#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/node/node_runtime.hpp"

namespace posthorn::cost {

/// A node that is not started, on a file of its own.
[[nodiscard]] std::unique_ptr<node_runtime> open_node(const std::string& service,
                                                      const std::string& database);

/// Fills the outbox of a new database of orders; each is old enough to be deleted.
struct old_messages {
    int sent = 0;
    int dead = 0;
};
void make_database(const std::filesystem::path& database, const old_messages& old);

}  // namespace posthorn::cost
