#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "standby/place.hpp"
#include "standby/plain_file.hpp"
#include "standby/wal_format.hpp"

namespace posthorn::standby {

/// One generation of the primary's log, in a file of its own: the very bytes of its `-wal`.
///
/// Behind its end may lie frames of an earlier generation, which no walk takes for its own.
///
/// Lifetime: `begin` or `open`.
/// Threads:  one at a time.
class segment {
public:
    /// A generation that begins, in the place of whatever the file held. Not yet synced.
    static result<segment> begin(const std::filesystem::path& path, const log_header& header);
    /// What an earlier process left, synced before anything is said of it: what can be read may
    /// not be on the disk. Empty if it is not the beginning of a log.
    static result<std::optional<segment>> open(const std::filesystem::path& path);

    [[nodiscard]] const log_header& header() const { return header_; }
    [[nodiscard]] const log_end& end() const { return walk_.end(); }
    [[nodiscard]] log_place place() const { return {header_.salts, end().offset, end().sum}; }
    /// Frames that follow; what they end is on the disk afterwards. A large transaction may come in
    /// parts. `error_code::malformed_request` if they do not follow; nothing was changed then.
    result<> append(std::uint64_t offset, bytes_view frames);
    /// Forgets a part of a transaction of which the rest does not come.
    void drop_part() { walk_ = log_walk(header_, end()); }
    result<> sync() { return file_.sync(); }

    /// Writes the last version of each page into the database, and its length; synced.
    result<> fold_into(plain_file& database) const;

private:
    segment(plain_file file, const log_header& header)
        : file_(std::move(file)), header_(header), walk_(header) {}

    plain_file file_;
    log_header header_;
    log_walk walk_;
};

}  // namespace posthorn::standby
