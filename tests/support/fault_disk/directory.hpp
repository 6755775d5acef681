#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/fault_disk/disk_file.hpp"

namespace posthorn::faults {

/// Which file each name leads to, now and after a power cut.
///
/// A creation or deletion is durable after a sync of its directory; before that, a cut leaves each
/// name at any point of its own history. A new file's first sync counts as one of its directory, as
/// SQLite's own VFS does for journals and WALs, and journalling file systems for every file.
class directory {
public:
    using file_ptr = std::shared_ptr<disk_file>;

    [[nodiscard]] file_ptr find(const std::string& path) const;
    file_ptr create(const std::string& path);
    void remove(const std::string& path);
    /// Whatever had the second name is gone.
    void rename(const std::string& from, const std::string& to);

    /// True where the name's creation was not durable yet.
    [[nodiscard]] bool is_new(const std::string& path, const file_ptr& file) const;
    void sync(const std::string& path_inside);

    void lose_power(dice& chance, const cut_mood& mood);

    [[nodiscard]] const std::map<std::string, file_ptr>& now() const { return now_; }
    [[nodiscard]] file_ptr find_durable(const std::string& path) const;
    [[nodiscard]] std::uint64_t bytes_used() const;

    /// The names and bytes that are safe whatever happens.
    [[nodiscard]] directory durable_copy() const;

private:
    std::map<std::string, file_ptr> now_;
    std::map<std::string, file_ptr> durable_;
    std::map<std::string, std::vector<file_ptr>> pending_;  // What a name led to since; null: gone.
};

}  // namespace posthorn::faults
