#include "measure/board.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/pace.hpp"

namespace posthorn::measure {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

[[noreturn]] void give_up(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// That of the standard library wakes threads of one process only.
void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t span_ns) {
    const timespec span{.tv_sec = span_ns / 1'000'000'000, .tv_nsec = span_ns % 1'000'000'000};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &span, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

struct board::memory {
    struct entry {
        std::atomic<std::int64_t> due_ns;
        std::atomic<std::int64_t> committed_ns;
        std::atomic<std::int64_t> effect_ns;
    };

    std::atomic<std::uint64_t> effects;
    std::atomic<std::uint64_t> doubled;
    std::atomic<std::int64_t> last_effect_ns;
    std::atomic<std::uint64_t> syncs;
    std::atomic<std::uint64_t> rows;
    std::atomic<std::uint32_t> state;
    std::atomic<std::uint32_t> stop;
    std::atomic<std::uint32_t> bell;     // Changes with each commit of the receiver.
    std::atomic<std::uint32_t> waiting;  // How many listen for it.
    std::array<char, 512> text;
    std::array<entry, kept_max> entries;
};

board::board() {
    file_ = ::memfd_create("posthorn-bench", MFD_CLOEXEC);
    if (file_ < 0 || ::ftruncate(file_, sizeof(memory)) != 0) give_up("memory to share");
    map();
}

board::board(const std::string& path) {
    file_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file_ < 0) give_up("the memory that the sender shares");
    map();
}

board::~board() {
    ::munmap(static_cast<void*>(memory_), sizeof(memory));
    ::close(file_);
}

void board::map() {
    void* at = ::mmap(nullptr, sizeof(memory), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) give_up("memory to share");  // NOLINT: the macro is a cast.
    // A new file is all zero, which is what each of these begins with.
    memory_ = static_cast<memory*>(at);
}

std::string board::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_); }

void board::begin(std::uint64_t index, std::int64_t due_ns) noexcept {
    auto& entry = memory_->entries[index % kept_max];
    entry.effect_ns.store(0, relaxed);
    entry.committed_ns.store(0, relaxed);
    entry.due_ns.store(due_ns, std::memory_order_release);
}

void board::committed(std::uint64_t index) noexcept {
    memory_->entries[index % kept_max].committed_ns.store(now_ns(), relaxed);
}

bool board::wait_effects(std::uint64_t count, std::int64_t until_ns) noexcept {
    memory_->waiting.fetch_add(1);
    bool came = true;
    while (true) {
        const auto seen = memory_->bell.load();
        if (effects() >= count) break;
        const auto left = until_ns - now_ns();
        came = left > 0 && state() != receiver_state::failed;
        if (!came) break;
        wait_on(memory_->bell, seen, std::min<std::int64_t>(left, 100'000'000));
    }
    memory_->waiting.fetch_sub(1);
    return came;
}

bool board::wait_ready(std::int64_t until_ns) noexcept {
    while (state() == receiver_state::starting && now_ns() < until_ns)
        sleep_until(now_ns() + 1'000'000);
    return state() == receiver_state::ready;
}

void board::ask_to_stop() noexcept { memory_->stop.store(1); }

void board::effect(std::span<const std::uint64_t> indexes) noexcept {
    const auto now = now_ns();
    std::uint64_t counted = 0;
    for (const auto index : indexes) {
        auto& slot = memory_->entries[index % kept_max].effect_ns;
        if (slot.load(relaxed) != 0) {
            memory_->doubled.fetch_add(1, relaxed);
            continue;
        }
        slot.store(now, relaxed);
        ++counted;
    }
    memory_->last_effect_ns.store(now, relaxed);
    memory_->effects.fetch_add(counted);
    memory_->bell.fetch_add(1);
    if (memory_->waiting.load() > 0) wake_all(memory_->bell);
}

void board::add_syncs(std::uint64_t count) noexcept { memory_->syncs.fetch_add(count, relaxed); }
void board::set_rows(std::uint64_t rows) noexcept { memory_->rows.store(rows); }

void board::set_state(receiver_state now, std::string_view text) noexcept {
    if (!text.empty()) {
        const auto kept = text.substr(0, memory_->text.size() - 1);
        *std::ranges::copy(kept, memory_->text.begin()).out = '\0';
    }
    memory_->state.store(static_cast<std::uint32_t>(now));
}

bool board::must_stop() const noexcept { return memory_->stop.load() != 0; }
std::uint64_t board::effects() const noexcept { return memory_->effects.load(); }
std::uint64_t board::doubled() const noexcept { return memory_->doubled.load(); }
std::int64_t board::last_effect_ns() const noexcept { return memory_->last_effect_ns.load(); }
std::uint64_t board::receiver_syncs() const noexcept { return memory_->syncs.load(); }
std::uint64_t board::rows() const noexcept { return memory_->rows.load(); }

board::receiver_state board::state() const noexcept {
    return static_cast<receiver_state>(memory_->state.load());
}

std::string board::text() const { return memory_->text.data(); }

board::times board::of(std::uint64_t index) const noexcept {
    const auto& entry = memory_->entries[index % kept_max];
    return {.due_ns = entry.due_ns.load(relaxed),
            .committed_ns = entry.committed_ns.load(relaxed),
            .effect_ns = entry.effect_ns.load(relaxed)};
}

}  // namespace posthorn::measure
