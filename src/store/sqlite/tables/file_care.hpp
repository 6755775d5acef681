#pragma once

#include "store/upkeep/disk_keeper.hpp"

namespace posthorn::sqlite {

/// What tables have to know of the file that they are in.
///
/// Lifetime: as the transaction's connection.
struct file_care {
    disk_keeper& room;
    bool gives_back = false;  // Whether the file can be made smaller page by page.
};

}  // namespace posthorn::sqlite
