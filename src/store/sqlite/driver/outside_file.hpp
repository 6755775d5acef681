#pragma once

#include <memory>
#include <string>

#include "store/outside_database.hpp"

namespace posthorn::sqlite {

/// A file of another program's. It is not made.
[[nodiscard]] std::unique_ptr<outside_database> outside_file(std::string path);

}  // namespace posthorn::sqlite
