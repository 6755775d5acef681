#include "standby/archive/shared_log.hpp"

namespace posthorn::standby {

result<std::size_t> shared_log::locked_source::read_log(std::span<std::byte> into,
                                                        std::uint64_t at) {
    const std::scoped_lock lock(mutex_);
    return files_.read_log(into, at);
}

result<std::size_t> shared_log::locked_source::read_file(std::span<std::byte> into,
                                                         std::uint64_t at) {
    const std::scoped_lock lock(mutex_);
    return files_.read_file(into, at);
}

result<std::uint64_t> shared_log::locked_source::file_size() {
    const std::scoped_lock lock(mutex_);
    return files_.file_size();
}

void shared_log::begin(log_source& files) {
    files_.emplace(files);
    for (auto* const each : takers_) each->begin(*files_);
}

void shared_log::end() noexcept {
    for (auto* const each : takers_) each->end();
}

void shared_log::let_go() noexcept {
    for (auto* const each : takers_) each->let_go();
}

result<> shared_log::ready() {
    for (auto* const each : takers_) POSTHORN_TRY(each->ready());
    return {};
}

void shared_log::wrote(std::uint64_t end) noexcept {
    for (auto* const each : takers_) each->wrote(end);
}

result<> shared_log::wait() noexcept {
    for (auto* const each : takers_) POSTHORN_TRY(each->wait());
    return {};
}

// All are asked, so that none falls behind because of another.
bool shared_log::may_checkpoint(std::uint64_t end) noexcept {
    bool may = true;
    for (auto* const each : takers_) may = each->may_checkpoint(end) && may;
    return may;
}

}  // namespace posthorn::standby
