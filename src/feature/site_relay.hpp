#pragma once

#include <cstdint>
#include <string>

#include <posthorn/uuid.hpp>

#include "base/async/task.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

enum class parked_action : std::uint8_t { retry, discard };

struct parked_page {
    std::int64_t after = 0;  // What `next` of the page before said.
    std::int64_t limit = 100;
};

/// Reaches what is parked at sites, from their centre. The site decides; its answer is given on.
///
/// Threads: the network executor.
class site_relay {
public:
    virtual ~site_relay() = default;

    /// Of a site that does not answer: what is known of it here, and that it is only that.
    virtual task<http_response> parked(std::string site, parked_page page) = 0;
    virtual task<http_response> act(std::string site, uuid id, parked_action what) = 0;
};

}  // namespace posthorn
