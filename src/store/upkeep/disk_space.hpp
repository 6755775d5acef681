#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/result.hpp"

namespace posthorn {

/// The room on the disk that a database lies on, and the file that keeps some of it.
///
/// Threads: one at a time.
class disk_space {
public:
    virtual ~disk_space() = default;

    /// Bytes that the service may still write; empty if not known.
    [[nodiscard]] virtual std::optional<std::uint64_t> free() = 0;
    [[nodiscard]] virtual bool has_ballast() = 0;
    /// Really takes the room, rather than only naming it.
    virtual result<> make_ballast(std::uint64_t bytes) = 0;
    virtual void drop_ballast() = 0;
};

/// That of a real file; the ballast lies beside it as `NAME-ballast`.
[[nodiscard]] std::unique_ptr<disk_space> disk_space_of(const std::filesystem::path& database);

}  // namespace posthorn
