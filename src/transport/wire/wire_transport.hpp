#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "transport/transport.hpp"
#include "transport/wire/exchange.hpp"
#include "transport/wire/peer_keys.hpp"

namespace posthorn {

struct wire_transport_options {
    std::string source;                                  // Our own id.
    std::string destination;                             // The peer's, by which its keys are found.
    std::size_t batch_bytes_max = std::size_t{1} << 20;  // Of a body; larger ones are split.
    std::chrono::milliseconds batch_recheck = std::chrono::minutes{5};  // For peers without it.
};

/// Brings messages to a peer over a channel: writes them out, signs, and believes only signed
/// answers.
///
/// Lifetime: keys and clock outlive it.
/// Threads:  the network executor.
/// Cancel:   as every transport's.
class wire_transport final : public transport {
public:
    wire_transport(std::unique_ptr<wire_channel> channel, const peer_keys& keys, const clock& time,
                   wire_transport_options options);

    task<std::vector<delivery>> deliver(message_batch batch) override;

private:
    std::unique_ptr<wire_channel> channel_;
    const peer_keys& keys_;
    const clock& time_;
    wire_transport_options options_;
    steady_time asks_for_batches_again_{};
};

}  // namespace posthorn
