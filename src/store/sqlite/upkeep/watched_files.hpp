#pragma once

#include <cstdint>
#include <expected>
#include <mutex>
#include <string>
#include <vector>

#include "base/log/log.hpp"

namespace posthorn::sqlite {

/// The files of a database that is open, to notice when one is deleted or replaced under it.
///
/// SQLite goes on with the files that it has open, and says nothing. Every program that opens the
/// database from then on has others: neither sees what the other commits, and what is in a file
/// without a name is gone with the last program that has it open.
///
/// Lifetime: made once the database was opened and written; the log outlives it.
/// Threads:  any.
class watched_files {
public:
    /// `given` is the path by which programs find the database, `opened` the file that it led to,
    /// which has its log and the log's index beside it.
    watched_files(const std::string& given, const std::string& opened, logger& log);

    /// Looks at the paths, and logs what has changed. Blocks.
    void look();
    /// Which file is not the one that is open, and what to do; empty if all are.
    [[nodiscard]] std::string loss() const;

private:
    struct identity {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;

        bool operator==(const identity&) const = default;
    };
    struct file {
        std::string path;
        identity opened;
    };
    enum class state : std::uint8_t { same, gone, replaced };

    /// Or the system's error.
    static std::expected<identity, int> identity_of(const std::string& path);
    static state state_of(const file& one);
    [[nodiscard]] std::string find_loss() const;

    std::vector<file> files_;
    logger& log_;
    mutable std::mutex mutex_;
    std::string loss_;
};

}  // namespace posthorn::sqlite
