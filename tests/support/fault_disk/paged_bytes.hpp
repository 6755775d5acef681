#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace posthorn::faults {

/// The bytes of one file, in pages that copies share until one of them writes.
///
/// Sharing makes a sync and a copy of the whole disk cheap: the simulator takes one for each ACK.
class paged_bytes {
public:
    static constexpr std::size_t page_size = 4096;

    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Bytes that a longer size adds are zero.
    void resize(std::uint64_t size);

    /// Grows the file where needed; a gap is zero.
    void write(std::uint64_t offset, std::span<const std::byte> bytes);

    /// How many bytes the file had; the rest of `into` becomes zero.
    std::size_t read(std::uint64_t offset, std::span<std::byte> into) const;

    /// Makes one page the same as in `other`; both sizes stay.
    void share_page(std::uint64_t index, const paged_bytes& other);

    [[nodiscard]] std::vector<std::byte> all() const;

private:
    using page = std::array<std::byte, page_size>;

    page& own(std::uint64_t index);

    std::vector<std::shared_ptr<page>> pages_;  // Null is a page of zeros.
    std::uint64_t size_ = 0;
};

}  // namespace posthorn::faults
