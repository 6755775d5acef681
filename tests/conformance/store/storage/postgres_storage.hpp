#pragma once

#include <memory>

#include "conformance/store/storage/storage.hpp"

namespace posthorn::conformance {

/// A schema of its own on the tests' private server.
std::unique_ptr<storage> postgres_on_a_server();

}  // namespace posthorn::conformance
