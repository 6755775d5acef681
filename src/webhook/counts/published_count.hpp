#pragma once

#include <span>

#include "message/event.hpp"
#include "store/store.hpp"
#include "webhook/counts/type_counts.hpp"

namespace posthorn {

/// Counts the events that this node has stored, by type.
///
/// Lifetime: outlives the store's commits; what it is given outlives it.
/// Threads:  any.
class published_count final : public commit_listener {
public:
    explicit published_count(type_counts& by_type) : by_type_(by_type) {}

    void committed(std::span<const outbox_row> enqueued) override {
        for (const auto& row : enqueued)
            if (row.body.destination == events_destination)
                by_type_.note(row.body.endpoint, &type_counts::counts::published);
    }

private:
    type_counts& by_type_;
};

}  // namespace posthorn
