#include "support/fault_disk/fault_disk.hpp"

#include <utility>

#include <sqlite3.h>

#include "base/assert.hpp"
#include "support/fault_disk/disk_state.hpp"
#include "support/fault_disk/vfs.hpp"

namespace posthorn {

using faults::absolute;

fault_disk::fault_disk(std::uint64_t seed)
    : fault_disk(std::make_unique<faults::disk_state>(seed)) {}

fault_disk::fault_disk(std::unique_ptr<faults::disk_state> state)
    : state_(std::move(state)), vfs_(std::make_unique<faults::vfs_registration>(*state_, 0)) {}

fault_disk::~fault_disk() { POSTHORN_ASSERT(state_->open_handles() == 0); }

const char* fault_disk::vfs_name() const { return vfs_->name.c_str(); }

fault_disk::user::user(faults::disk_state& state)
    : state_(state), vfs_(std::make_unique<faults::vfs_registration>(state, state.add_user())) {}

fault_disk::user::~user() = default;

const char* fault_disk::user::vfs_name() const { return vfs_->name.c_str(); }
void fault_disk::user::kill() { state_.kill_user(vfs_->user); }
bool fault_disk::user::is_dead() const { return state_.is_dead(vfs_->user); }

std::unique_ptr<fault_disk::user> fault_disk::add_user() {
    return std::unique_ptr<user>(new user(*state_));
}

void fault_disk::seed_sqlite(std::uint32_t seed) {
    // Zero would mean the operating system's randomness again.
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, seed == 0 ? 1U : seed, nullptr);
}

void fault_disk::cut_after_operations(std::uint64_t count) { state_->cut_after_operations(count); }
void fault_disk::cut_now() { state_->cut_now(); }
void fault_disk::restore_power(unsynced fate) { state_->restore_power(fate); }
void fault_disk::kill_processes() { state_->kill_processes(); }
void fault_disk::kill_after_operations(std::uint64_t count) {
    state_->kill_after_operations(count);
}
bool fault_disk::powered() const { return state_->powered(); }
std::uint64_t fault_disk::operations() const { return state_->operations(); }
sync_counts fault_disk::syncs() const { return state_->syncs(); }
std::uint64_t fault_disk::cuts() const { return state_->cuts(); }

std::uint64_t fault_disk::kills() const { return state_->kills(); }

void fault_disk::fail_next_syncs(std::uint64_t count) { state_->fail_next_syncs(count); }
void fault_disk::set_capacity(std::uint64_t bytes) { state_->set_capacity(bytes); }
std::uint64_t fault_disk::bytes_used() const { return state_->bytes_used(); }
void fault_disk::leave_garbage(bool on) { state_->leave_garbage(on); }

void fault_disk::corrupt(const std::string& path, std::uint64_t offset, std::uint64_t length) {
    state_->corrupt(absolute(path), offset, length);
}

void fault_disk::overwrite(const std::string& path, std::uint64_t offset,
                           std::span<const std::byte> bytes) {
    state_->overwrite(absolute(path), offset, bytes);
}

bool fault_disk::exists(const std::string& path) const { return state_->exists(absolute(path)); }
std::vector<std::string> fault_disk::paths() const { return state_->paths(); }

std::vector<std::byte> fault_disk::contents(const std::string& path) const {
    return state_->contents(absolute(path));
}

std::vector<std::byte> fault_disk::durable_contents(const std::string& path) const {
    return state_->durable_contents(absolute(path));
}

void fault_disk::put(const std::string& path, std::span<const std::byte> bytes) {
    state_->put(absolute(path), bytes);
}

void fault_disk::remove(const std::string& path) { state_->remove_file(absolute(path)); }

std::unique_ptr<fault_disk> fault_disk::clone_durable() const {
    return std::unique_ptr<fault_disk>(new fault_disk(state_->clone_durable()));
}

void fault_disk::set_clock(std::function<std::int64_t()> now) { state_->set_clock(std::move(now)); }
void fault_disk::on_sleep(std::function<void(int)> hook) { state_->on_sleep(std::move(hook)); }

}  // namespace posthorn
