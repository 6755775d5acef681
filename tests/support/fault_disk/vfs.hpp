#pragma once

#include <string>

#include <sqlite3.h>

#include "support/fault_disk/disk_state.hpp"

namespace posthorn::faults {

/// Puts a disk among SQLite's VFSes, under a name of its own, and takes it out again.
struct vfs_registration {
    vfs_registration(disk_state& disk, std::uint64_t user);
    ~vfs_registration();
    vfs_registration(const vfs_registration&) = delete;
    vfs_registration& operator=(const vfs_registration&) = delete;

    disk_state& disk;
    std::uint64_t user;
    std::string name;
    sqlite3_vfs vfs{};
};

/// Names on the disk begin with a slash, whether or not the caller's did.
std::string absolute(const std::string& path);

}  // namespace posthorn::faults
