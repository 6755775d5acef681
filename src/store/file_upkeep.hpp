#pragma once

#include "base/result.hpp"
#include "store/disk_room.hpp"

namespace posthorn {

class store;

/// What a store asks of the node that keeps its file: an eye on the disk, and now and then a new
/// file without holes. A store on a server leaves both to the server, and has none of this.
///
/// Lifetime: as its store.
/// Threads:  any.
class file_upkeep {
public:
    virtual ~file_upkeep() = default;

    /// Looks at the disk; what is done about it shows in `disk`. Blocks.
    virtual void look_at_disk() = 0;
    [[nodiscard]] virtual disk_report disk() const = 0;
    /// Writes the whole file anew, without its holes. Blocks, and nothing is committed meanwhile.
    /// `error_code::store_busy` while another node has the file.
    virtual result<> compact() = 0;
};

/// The disk under a store; nothing is known of it, and nothing wrong with it, where a server has it.
[[nodiscard]] disk_report disk_of(store& of);

}  // namespace posthorn
