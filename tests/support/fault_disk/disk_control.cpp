// What the tests ask of the disk; disk_state.cpp holds what the VFS asks of it.
#include <stdexcept>

#include "support/fault_disk/disk_state.hpp"

namespace posthorn::faults {

void disk_state::cut_after_operations(std::uint64_t count) {
    const std::lock_guard guard(mutex_);
    operations_left_ = count;
}

void disk_state::cut_now() {
    const std::lock_guard guard(mutex_);
    cut();
}

void disk_state::restore_power(fault_disk::unsynced fate) {
    const std::lock_guard guard(mutex_);
    cut();
    dice chance(seed_ * 0x100000001b3U + cuts_);
    const auto mood = next_mood(fate, chance);
    files_.lose_power(chance, mood);
    powered_ = true;
}

// Whole losses and whole survivals are rare among independent sectors, so they get cuts of their
// own, and the rest differ in how much they keep.
cut_mood disk_state::next_mood(fault_disk::unsynced fate, dice& chance) const {
    using kind = cut_mood::kind;
    if (fate == fault_disk::unsynced::dropped) return {.what = kind::drops_all};
    if (fate == fault_disk::unsynced::kept) return {.what = kind::keeps_all};
    const auto roll = chance.below(8);
    if (roll < 2) return {.what = kind::drops_all};
    if (roll < 3) return {.what = kind::keeps_all};
    static constexpr std::uint64_t shares[] = {10, 50, 80, 95, 99};
    return {.what = kind::mixes,
            .keep_percent = shares[chance.below(std::size(shares))],
            .garbage = garbage_};
}

void disk_state::kill_processes() {
    const std::lock_guard guard(mutex_);
    ++generation_;
    ++kills_;
    operations_to_live_ = fault_disk::unlimited;
    for (const auto& [path, file] : files_.now()) file->forget_handles();
}

void disk_state::kill_after_operations(std::uint64_t count) {
    const std::lock_guard guard(mutex_);
    operations_to_live_ = count;
}

std::uint64_t disk_state::add_user() {
    const std::lock_guard guard(mutex_);
    users_.push_back(generation_);
    return users_.size() - 1;
}

void disk_state::kill_user(std::uint64_t user) {
    const std::lock_guard guard(mutex_);
    kill(user);
}

bool disk_state::is_dead(std::uint64_t user) {
    const std::lock_guard guard(mutex_);
    return !powered_ || users_[user] != generation_;
}

std::uint64_t disk_state::kills() {
    const std::lock_guard guard(mutex_);
    return kills_;
}

bool disk_state::powered() {
    const std::lock_guard guard(mutex_);
    return powered_;
}

std::uint64_t disk_state::operations() {
    const std::lock_guard guard(mutex_);
    return operations_;
}

std::uint64_t disk_state::cuts() {
    const std::lock_guard guard(mutex_);
    return cuts_;
}

sync_counts disk_state::syncs() {
    const std::lock_guard guard(mutex_);
    return syncs_;
}

void disk_state::fail_next_syncs(std::uint64_t count) {
    const std::lock_guard guard(mutex_);
    syncs_to_fail_ = count;
}

void disk_state::set_capacity(std::uint64_t bytes) {
    const std::lock_guard guard(mutex_);
    capacity_ = bytes;
}

std::uint64_t disk_state::bytes_used() {
    const std::lock_guard guard(mutex_);
    return files_.bytes_used();
}

void disk_state::leave_garbage(bool on) {
    const std::lock_guard guard(mutex_);
    garbage_ = on;
}

void disk_state::corrupt(const std::string& path, std::uint64_t offset, std::uint64_t length) {
    const std::lock_guard guard(mutex_);
    const auto file = existing(path);
    if (offset + length > file->size()) throw std::out_of_range("corrupt: past the end of " + path);
    std::vector<std::byte> bytes(length);
    file->read(offset, bytes);
    for (auto& each : bytes) each ^= static_cast<std::byte>(1 + random_.below(255));
    file->damage(offset, bytes);
}

void disk_state::overwrite(const std::string& path, std::uint64_t offset,
                           std::span<const std::byte> bytes) {
    const std::lock_guard guard(mutex_);
    existing(path)->damage(offset, bytes);
}

bool disk_state::exists(const std::string& path) {
    const std::lock_guard guard(mutex_);
    return files_.find(path) != nullptr;
}

std::vector<std::string> disk_state::paths() {
    const std::lock_guard guard(mutex_);
    std::vector<std::string> found;
    for (const auto& [path, file] : files_.now()) found.push_back(path);
    return found;
}

std::vector<std::byte> disk_state::contents(const std::string& path) {
    const std::lock_guard guard(mutex_);
    return existing(path)->current().all();
}

std::vector<std::byte> disk_state::durable_contents(const std::string& path) {
    const std::lock_guard guard(mutex_);
    const auto file = files_.find_durable(path);
    return file ? file->durable().all() : std::vector<std::byte>{};
}

void disk_state::put(const std::string& path, std::span<const std::byte> bytes) {
    const std::lock_guard guard(mutex_);
    auto file = files_.find(path);
    if (!file) file = files_.create(path);
    file->replace(bytes);
    files_.sync(path);
}

void disk_state::remove_file(const std::string& path) {
    const std::lock_guard guard(mutex_);
    if (!files_.find(path)) return;
    files_.remove(path);
    files_.sync(path);
}

std::unique_ptr<disk_state> disk_state::clone_durable() {
    const std::lock_guard guard(mutex_);
    auto copy = std::make_unique<disk_state>(seed_);
    copy->files_ = files_.durable_copy();
    copy->capacity_ = capacity_;
    copy->slept_us_ = slept_us_;
    copy->clock_ = clock_;
    return copy;
}

void disk_state::set_clock(std::function<std::int64_t()> now) {
    const std::lock_guard guard(mutex_);
    clock_ = std::move(now);
}

void disk_state::on_sleep(std::function<void(int)> hook) {
    const std::lock_guard guard(mutex_);
    sleep_hook_ = std::move(hook);
}

std::uint64_t disk_state::open_handles() {
    const std::lock_guard guard(mutex_);
    return open_.size();
}

directory::file_ptr disk_state::existing(const std::string& path) const {
    auto file = files_.find(path);
    if (!file) throw std::out_of_range("no such file on the fault disk: " + path);
    return file;
}

}  // namespace posthorn::faults
