#pragma once

#include <chrono>
#include <string>

namespace posthorn {

/// Of the job that one node at a time does for a store.
struct lease_options {
    std::string owner;  // Names this run of the node, not the next one.
    std::chrono::milliseconds duration = std::chrono::seconds{10};
    std::chrono::milliseconds beat_interval = std::chrono::seconds{3};
    std::chrono::milliseconds look_interval = std::chrono::seconds{1};  // Of a stand-by.
};

}  // namespace posthorn
