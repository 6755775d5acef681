#include "store/rules/write_trouble.hpp"

namespace posthorn {
namespace {

bool is_the_stores(error_code code) {
    switch (code) {
        case error_code::store_read_only:
        case error_code::store_unavailable:
        case error_code::store_full:
        case error_code::store_corrupt:
        case error_code::io_failed:
        case error_code::invalid_configuration: return true;  // Of its server: no login works.
        default: return false;
    }
}

}  // namespace

void write_trouble::note(const result<>& outcome, steady_time at) {
    if (!outcome) {
        if (is_the_stores(outcome.error().code())) note_failure(outcome.error(), at);
        return;
    }
    if (!is_there_.load(std::memory_order_relaxed)) return;
    const std::scoped_lock lock(mutex_);
    if (at - failed_at_ < stays_for) return;
    why_.reset();
    is_there_.store(false, std::memory_order_relaxed);
}

void write_trouble::note_failure(const error& why, steady_time at) {
    const std::scoped_lock lock(mutex_);
    why_ = why;
    failed_at_ = at;
    is_there_.store(true, std::memory_order_relaxed);
}

std::optional<error> write_trouble::now() const {
    const std::scoped_lock lock(mutex_);
    return why_;
}

}  // namespace posthorn
