#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/outbox_table.hpp"

namespace posthorn {

/// The messages of one destination that wait in memory, in the order in which they shall go: the
/// tenants in turn, each with its most urgent message; those alike, first come first served.
///
/// Threads: one at a time.
class lane_queue {
public:
    void push(outbox_row row);
    /// The next one; the queue is not empty.
    [[nodiscard]] outbox_row pop();
    /// Takes out those for which `is_over` is true, wherever they stand.
    std::vector<outbox_row> take_if(const std::function<bool(const outbox_row&)>& is_over);
    /// Takes out all of them.
    std::vector<outbox_row> take_all();

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    /// By priority, the highest first. Empty ones are removed at once.
    using urgencies = std::map<std::int32_t, std::deque<outbox_row>, std::greater<>>;

    std::map<std::string, urgencies, std::less<>> tenants_;
    std::string served_;  // The tenant that had its turn last.
    bool began_ = false;  // Some tenant had.
    std::size_t size_ = 0;
};

}  // namespace posthorn
