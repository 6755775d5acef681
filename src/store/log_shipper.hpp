#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace posthorn {

/// The bytes of a store's two files, as they are while others write them.
///
/// Threads: one at a time.
class log_source {
public:
    log_source() = default;
    log_source(const log_source&) = delete;
    log_source& operator=(const log_source&) = delete;
    virtual ~log_source() = default;

    /// How many bytes there were, up to the room for them.
    virtual result<std::size_t> read_log(std::span<std::byte> into, std::uint64_t at) = 0;
    /// Of the database itself, without what only its log has.
    virtual result<std::size_t> read_file(std::span<std::byte> into, std::uint64_t at) = 0;
    virtual result<std::uint64_t> file_size() = 0;
};

/// Takes what is committed to another disk, inside the sync of each COMMIT: others see a commit
/// only after it.
///
/// Lifetime: outlives the store, which calls `begin` once and then `end`.
/// Threads:  the one that commits.
class log_shipper {
public:
    log_shipper() = default;
    log_shipper(const log_shipper&) = delete;
    log_shipper& operator=(const log_shipper&) = delete;
    virtual ~log_shipper() = default;

    /// `files` may be read until `end` returns; the log has begun.
    virtual void begin(log_source& files) = 0;
    virtual void end() noexcept = 0;

    /// From now on others may have copied the log and begun it anew, until the
    /// next `wrote`: frames of it may not have been seen.
    virtual void let_go() noexcept = 0;
    /// Asked before a transaction: an error where its commit could not be answered now.
    virtual result<> ready() = 0;
    /// The log's transactions end there, and are being synced here.
    virtual void wrote(std::uint64_t end) noexcept = 0;
    /// Returns once what was written may be answered. After an error it must not be, and it is in
    /// doubt: it may be there, here and elsewhere.
    virtual result<> wait() noexcept = 0;
    /// Whether the log, of which all transactions end there, may be copied into the file. What
    /// comes next may then begin it anew.
    virtual bool may_checkpoint(std::uint64_t end) noexcept = 0;
};

}  // namespace posthorn
