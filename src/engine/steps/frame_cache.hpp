#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "engine/rows/workflow_rows.hpp"

namespace posthorn {

/// A workflow in memory, as it was after its last committed step. It can be built again from the
/// tables at any time.
struct frame {
    /// What `run` was given, and may have to be done again.
    using work = std::shared_ptr<detail::unique_function<std::string(const uuid& key)>>;

    instance_row of{};
    const detail::workflow_entry* code = nullptr;
    std::unique_ptr<detail::flow_base> flow{};
    std::int64_t steps = 0;
    std::map<std::uint32_t, work> works{};  // Those that were not done yet.
    command_kinds made{};

    [[nodiscard]] std::size_t bytes() const noexcept;
};

/// Frames that are not at work, the least recently used of which go first once they take too many
/// bytes.
///
/// Threads: one.
class frame_cache {
public:
    explicit frame_cache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    /// Takes it out; null if it is not there.
    [[nodiscard]] std::unique_ptr<frame> take(std::int64_t instance);
    void put(std::unique_ptr<frame> one);

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t size() const noexcept { return by_instance_.size(); }

private:
    struct held {
        std::unique_ptr<frame> one;
        std::size_t bytes = 0;
    };
    using order = std::list<held>;

    std::unique_ptr<frame> remove(order::iterator at);

    std::size_t bytes_max_;
    std::size_t bytes_ = 0;
    order by_use_;  // The most recent first.
    std::unordered_map<std::int64_t, order::iterator> by_instance_;
};

}  // namespace posthorn
