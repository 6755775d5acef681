#pragma once

#include <memory>
#include <string>

#include "transport/broker/publication.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// Brings messages to a broker: delivered means that it confirmed. Batches follow each other
/// without waiting for confirmations; a lane sends the next message of an order key only after the
/// one before, so that order holds.
///
/// Cancel: as every transport's; what was given away stays given away.
class broker_transport final : public transport {
public:
    struct options {
        std::string address;            // A pattern, as `fill_address` reads it.
        std::size_t address_bytes_max;  // That the broker can carry.
        bool (*is_address)(std::string_view address);
    };

    broker_transport(std::unique_ptr<broker_publisher> to, options with)
        : to_(std::move(to)), options_(std::move(with)) {}

    task<std::vector<delivery>> deliver(message_batch batch) override;

private:
    std::unique_ptr<broker_publisher> to_;
    options options_;
};

}  // namespace posthorn
