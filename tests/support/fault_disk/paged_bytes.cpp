#include "support/fault_disk/paged_bytes.hpp"

#include <algorithm>

namespace posthorn::faults {

void paged_bytes::resize(std::uint64_t size) {
    const auto tail = size % page_size;
    if (size < size_ && tail != 0 && pages_[size / page_size]) {
        // Growing again must not bring the cut-off bytes back.
        auto& last = own(size / page_size);
        std::fill(last.begin() + static_cast<std::ptrdiff_t>(tail), last.end(), std::byte{0});
    }
    pages_.resize((size + page_size - 1) / page_size);
    size_ = size;
}

void paged_bytes::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (offset + bytes.size() > size_) resize(offset + bytes.size());
    while (!bytes.empty()) {
        const auto begin = offset % page_size;
        const auto length = std::min<std::size_t>(bytes.size(), page_size - begin);
        auto& target = own(offset / page_size);
        std::copy_n(bytes.begin(), length, target.begin() + static_cast<std::ptrdiff_t>(begin));
        bytes = bytes.subspan(length);
        offset += length;
    }
}

std::size_t paged_bytes::read(std::uint64_t offset, std::span<std::byte> into) const {
    std::ranges::fill(into, std::byte{0});
    if (offset >= size_) return 0;
    const auto available = std::min<std::uint64_t>(into.size(), size_ - offset);
    for (std::uint64_t done = 0; done < available;) {
        const auto begin = (offset + done) % page_size;
        const auto length = std::min<std::uint64_t>(available - done, page_size - begin);
        if (const auto& source = pages_[(offset + done) / page_size]) {
            std::copy_n(source->begin() + static_cast<std::ptrdiff_t>(begin), length,
                        into.begin() + static_cast<std::ptrdiff_t>(done));
        }
        done += length;
    }
    return available;
}

void paged_bytes::share_page(std::uint64_t index, const paged_bytes& other) {
    if (index < pages_.size() && index < other.pages_.size()) pages_[index] = other.pages_[index];
}

std::vector<std::byte> paged_bytes::all() const {
    std::vector<std::byte> bytes(size_);
    read(0, bytes);
    return bytes;
}

paged_bytes::page& paged_bytes::own(std::uint64_t index) {
    auto& slot = pages_[index];
    if (!slot) {
        slot = std::make_shared<page>();
    } else if (slot.use_count() > 1) {
        slot = std::make_shared<page>(*slot);
    }
    return *slot;
}

}  // namespace posthorn::faults
