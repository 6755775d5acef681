#pragma once

#include <string>

#include "base/result.hpp"
#include "store/disk_room.hpp"

namespace posthorn {

class store;

/// What a store asks of the node that keeps its file: an eye on the disk and on the file, and now
/// and then a new file without holes. A store on a server leaves all that to the server, and has
/// none of this.
///
/// Lifetime: as its store.
/// Threads:  any.
class file_upkeep {
public:
    virtual ~file_upkeep() = default;

    /// Looks at the disk; what is done about it shows in `disk`. Blocks.
    virtual void look_at_disk() = 0;
    [[nodiscard]] virtual disk_report disk() const = 0;
    /// Looks whether the files are still those that are open. Blocks.
    virtual void look_at_files() = 0;
    /// Which file was deleted or replaced, as last seen, and what to do; empty if none was.
    [[nodiscard]] virtual std::string lost_file() const = 0;
    /// Writes the whole file anew, without its holes. Blocks, and nothing is committed meanwhile.
    /// `error_code::store_busy` while another node has the file.
    virtual result<> compact() = 0;
};

/// The disk under a store; nothing is known of it, and nothing wrong with it, where a server has it.
[[nodiscard]] disk_report disk_of(store& of);
/// See `file_upkeep::lost_file`; empty where a server has the files.
[[nodiscard]] std::string lost_file_of(store& of);

}  // namespace posthorn
