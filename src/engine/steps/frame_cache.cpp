#include "engine/steps/frame_cache.hpp"

#include <utility>

namespace posthorn {

std::size_t frame::bytes() const noexcept {
    constexpr std::size_t node_bytes = 128;  // Of the containers that hold it, and of each work.
    return sizeof(*this) + flow->bytes() + of.workflow.size() + of.id.size() + of.tenant.size() +
           of.arguments.capacity() + of.carried.capacity() + node_bytes * (1 + works.size());
}

std::unique_ptr<frame> frame_cache::remove(order::iterator at) {
    auto one = std::move(at->one);
    bytes_ -= at->bytes;
    by_instance_.erase(one->of.instance);
    by_use_.erase(at);
    return one;
}

std::unique_ptr<frame> frame_cache::take(std::int64_t instance) {
    const auto found = by_instance_.find(instance);
    return found == by_instance_.end() ? nullptr : remove(found->second);
}

void frame_cache::put(std::unique_ptr<frame> one) {
    const auto instance = one->of.instance;
    const auto bytes = one->bytes();
    static_cast<void>(take(instance));
    by_use_.push_front({std::move(one), bytes});
    by_instance_[instance] = by_use_.begin();
    bytes_ += bytes;
    while (bytes_ > bytes_max_) static_cast<void>(remove(std::prev(by_use_.end())));
}

}  // namespace posthorn
