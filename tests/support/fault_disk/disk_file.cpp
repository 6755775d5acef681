#include "support/fault_disk/disk_file.hpp"

#include <algorithm>
#include <array>

namespace posthorn::faults {
namespace {

using sector = std::array<std::byte, disk_file::sector_size>;

// How many of the changes made to one thing reached the platter.
std::size_t surviving_prefix(std::size_t made, dice& chance, const cut_mood& mood) {
    switch (mood.what) {
        case cut_mood::kind::drops_all: return 0;
        case cut_mood::kind::keeps_all: return made;
        case cut_mood::kind::mixes: break;
    }
    return chance.percent(mood.keep_percent) ? made : chance.below(made);
}

}  // namespace

std::size_t disk_file::read(std::uint64_t offset, std::span<std::byte> into) const {
    return current_.read(offset, into);
}

void disk_file::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    current_.write(offset, bytes);
    note(offset, offset + bytes.size(), bytes);
    note_size();
}

void disk_file::truncate(std::uint64_t size) {
    const auto before = current_.size();
    current_.resize(size);
    if (size < before) note(size, before, {});
    note_size();
}

void disk_file::sync() {
    durable_.resize(current_.size());
    std::erase_if(pending_, [&](const auto& entry) {
        const auto& [page, made] = entry;
        if (std::ranges::all_of(made, &change::abandoned)) return false;
        durable_.share_page(page, current_);
        return true;
    });
    sizes_.clear();
}

void disk_file::abandon_pending() {
    ++failed_syncs_;
    for (auto& [page, made] : pending_) {
        for (auto& each : made) {
            each.abandoned = true;
            each.truncation = 0;  // Lengths go with the next sync; only data is forgotten.
        }
    }
}

void disk_file::lose_power(dice& chance, const cut_mood& mood) {
    const auto sizes_kept = sizes_.empty() ? 0 : surviving_prefix(sizes_.size(), chance, mood);
    paged_bytes image = durable_;
    for (const auto& [page, made] : pending_) {
        for (std::size_t at = 0; at < paged_bytes::page_size; at += sector_size) {
            std::vector<const change*> touching;
            for (const auto& each : made) {
                if (each.begin < at + sector_size && each.end > at) touching.push_back(&each);
            }
            if (touching.empty()) continue;
            const auto kept = survivors(touching, sizes_kept, chance, mood);
            const auto offset = page * paged_bytes::page_size + at;
            sector bytes;
            image.read(offset, bytes);
            for (const auto* each : kept) apply(*each, bytes, at);
            const auto* lost = kept.size() < touching.size() ? touching[kept.size()] : nullptr;
            if (mood.garbage && lost != nullptr && !lost->bytes.empty() && chance.percent(20)) {
                apply(noise_for(*lost, chance), bytes, at);
            }
            image.write(offset, bytes);
        }
    }
    image.resize(sizes_kept == 0 ? durable_.size() : sizes_[sizes_kept - 1]);
    durable_ = image;
    current_ = std::move(image);
    pending_.clear();
    sizes_.clear();
    forget_handles();
}

// What came before a truncation that happened is settled; what came after one that did not happen
// went to sectors that the file never got.
std::span<const disk_file::change* const> disk_file::survivors(
    std::span<const change* const> touching, std::size_t sizes_kept, dice& chance,
    const cut_mood& mood) {
    std::size_t settled = 0;
    for (std::size_t i = 0; i < touching.size(); ++i) {
        if (!touching[i]->bytes.empty()) continue;
        if (touching[i]->truncation > sizes_kept) {
            touching = touching.first(i);
            break;
        }
        settled = i + 1;
    }
    const auto open = touching.size() - settled;
    if (open == 0) return touching;
    return touching.first(settled + surviving_prefix(open, chance, mood));
}

// `at` is where in its page the sector begins.
void disk_file::apply(const change& made, std::span<std::byte> bytes, std::size_t at) {
    const auto begin = std::max(made.begin, at);
    const auto target = bytes.subspan(begin - at, std::min(made.end, at + sector_size) - begin);
    if (made.bytes.empty()) {
        std::ranges::fill(target, std::byte{0});
    } else {
        std::copy_n(made.bytes.data() + (begin - made.begin), target.size(), target.begin());
    }
}

// Noise only where the change was to write: what lies beside it in the sector stays.
disk_file::change disk_file::noise_for(const change& lost, dice& chance) {
    change noise = lost;
    for (auto& each : noise.bytes) each = static_cast<std::byte>(chance.next());
    return noise;
}

void disk_file::damage(std::uint64_t offset, std::span<const std::byte> bytes) {
    current_.write(offset, bytes);
    durable_.write(offset, bytes);
}

void disk_file::replace(std::span<const std::byte> bytes) {
    pending_.clear();
    sizes_.clear();
    current_ = {};
    current_.write(0, bytes);
    durable_ = current_;
}

std::shared_ptr<disk_file> disk_file::durable_copy() const {
    auto copy = std::make_shared<disk_file>();
    copy->durable_ = durable_;
    copy->current_ = durable_;
    return copy;
}

void disk_file::forget_handles() {
    locks_ = {};
    shm_.reset();
}

std::shared_ptr<shared_memory> disk_file::map_shared_memory() {
    auto shm = shm_.lock();
    if (!shm) {
        shm = std::make_shared<shared_memory>();
        shm_ = shm;
    }
    return shm;
}

void disk_file::note(std::uint64_t begin, std::uint64_t end, std::span<const std::byte> bytes) {
    while (begin < end) {
        const auto page = begin / paged_bytes::page_size;
        const auto stop = std::min(end, (page + 1) * paged_bytes::page_size);
        change made{.begin = begin % paged_bytes::page_size,
                    .end = begin % paged_bytes::page_size + (stop - begin)};
        if (bytes.empty()) {
            made.truncation = sizes_.size() + 1;  // The one that is noted next.
        } else {
            made.bytes.assign(bytes.begin(),
                              bytes.begin() + static_cast<std::ptrdiff_t>(stop - begin));
            bytes = bytes.subspan(stop - begin);
        }
        pending_[page].push_back(std::move(made));
        begin = stop;
    }
}

void disk_file::note_size() {
    const auto last = sizes_.empty() ? durable_.size() : sizes_.back();
    if (current_.size() != last) sizes_.push_back(current_.size());
}

}  // namespace posthorn::faults
