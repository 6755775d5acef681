#pragma once

#include <memory>
#include <string>

#include "base/run/environment.hpp"
#include "transport/transport.hpp"
#include "transport/wire/wire_identity.hpp"
#include "transport/wire/wire_transport.hpp"
#include "url/recent_ways.hpp"
#include "url/url_client.hpp"

namespace posthorn {

/// Brings messages to destinations that are URLs: the same requests that a route there would send,
/// through the guarded client. The batch says which one; the ways are made when they are needed.
///
/// Lifetime: what it is given outlives it; it outlives the lanes.
/// Threads:  the network executor.
/// Cancel:   as every transport's.
class url_transport final : public transport {
public:
    url_transport(const environment& env, url_client& client, const wire_identity& self)
        : env_(env), client_(client), self_(self) {}

    task<std::vector<delivery>> deliver(message_batch batch) override;

private:
    using way = std::shared_ptr<wire_transport>;

    /// Or what is answered for every message in its place.
    [[nodiscard]] std::expected<way, delivery> way_to(const std::string& destination);

    const environment& env_;
    url_client& client_;
    const wire_identity& self_;
    recent_ways<wire_transport> ways_;
};

}  // namespace posthorn
