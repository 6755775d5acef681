#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "base/result.hpp"

namespace posthorn::sqlite {

// SQLite's locks on a database, seen from outside of SQLite, which tells who holds them. A process
// that has the database open itself must not use these: closing any descriptor of a file drops all
// POSIX locks that the process has on it.

/// A process that holds a lock; its id is zero if it cannot be told, as in another container.
struct lock_holder {
    pid_t process = 0;
    bool operator==(const lock_holder&) const = default;
};

/// Some other process that has the database open. Each connection to a file with a WAL has a lock
/// on it for as long as it is open.
[[nodiscard]] std::optional<lock_holder> who_has_open(const std::string& database);
/// The other process that keeps all others from checkpointing: a node's guard, or one that
/// checkpoints right now.
[[nodiscard]] std::optional<lock_holder> who_holds_checkpoints(const std::string& database);

/// `posthorn (4711)`, or as much of it as is known.
[[nodiscard]] std::string describe_holder(const lock_holder& holder);

/// Keeps all others from using a database, as SQLite itself would for an exclusive transaction.
///
/// Lifetime: holds the lock until it is destroyed.
/// Threads:  one.
class sole_use {
public:
    /// `error_code::store_busy`, naming the process, if one has it open. A file that is not there
    /// is free.
    static result<sole_use> take(const std::string& database);
    ~sole_use();
    sole_use(sole_use&& other) noexcept;
    sole_use& operator=(sole_use&&) = delete;
    sole_use(const sole_use&) = delete;

private:
    explicit sole_use(int descriptor) : descriptor_(descriptor) {}

    int descriptor_ = -1;
};

}  // namespace posthorn::sqlite
