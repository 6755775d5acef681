#pragma once

#include <memory>

#include "conformance/store/storage/storage.hpp"

namespace posthorn::conformance {

/// A file in a directory of its own, with a thread of its own as writer.
std::unique_ptr<storage> sqlite_on_files();
/// A database that ends with the test, as `memory:` has it.
std::unique_ptr<storage> sqlite_in_memory();
/// A file on the fault disk, written inline.
std::unique_ptr<storage> sqlite_on_fault_disk(std::uint64_t seed);

}  // namespace posthorn::conformance
