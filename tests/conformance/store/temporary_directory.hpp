#pragma once

#include "support/temporary_directory.hpp"

namespace posthorn::conformance {

using test::temporary_directory;

}  // namespace posthorn::conformance
