#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "webhook/webhook_request.hpp"

namespace posthorn {

/// The events that were used last, up to a number of bytes: most are told to several subscribers
/// at about the same time.
///
/// Threads: one at a time.
class event_cache {
public:
    using event = std::shared_ptr<const webhook_event>;

    explicit event_cache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    [[nodiscard]] event find(const uuid& id) {
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) return nullptr;
        used_.splice(used_.begin(), used_, found->second);
        return *found->second;
    }

    void add(event one) {
        if (by_id_.contains(one->id)) return;
        bytes_ += size_of(*one);
        used_.push_front(std::move(one));
        by_id_.emplace(used_.front()->id, used_.begin());
        while (bytes_ > bytes_max_ && used_.size() > 1) {
            bytes_ -= size_of(*used_.back());
            by_id_.erase(used_.back()->id);
            used_.pop_back();
        }
    }

private:
    static std::size_t size_of(const webhook_event& one) {
        return sizeof(one) + one.payload.size() + one.type.size() + one.entity.size();
    }

    std::size_t bytes_max_;
    std::size_t bytes_ = 0;
    std::list<event> used_;  // The last one first.
    std::unordered_map<uuid, std::list<event>::iterator> by_id_;
};

}  // namespace posthorn
