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
    if (outcome ? !is_there_.load(std::memory_order_relaxed)
                : !is_the_stores(outcome.error().code()))
        return;
    const std::scoped_lock lock(mutex_);
    if (!outcome) {
        why_ = outcome.error();
        failed_at_ = at;
    } else if (at - failed_at_ >= stays_for) {
        why_.reset();
    }
    is_there_.store(why_.has_value(), std::memory_order_relaxed);
}

std::optional<error> write_trouble::now() const {
    const std::scoped_lock lock(mutex_);
    return why_;
}

}  // namespace posthorn
