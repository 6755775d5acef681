#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.hpp"
#include "transport/transport.hpp"
#include "transport/wire/exchange.hpp"
#include "transport/wire/peer_keys.hpp"
#include "transport/wire/transport_kind.hpp"

namespace posthorn {

struct wire_transport_options {
    std::string source;                                  // Our own id.
    std::string destination;                             // The peer's, by which its keys are found.
    std::string keys_else{};                             // Whose keys count where it has none.
    std::size_t batch_bytes_max = std::size_t{1} << 20;  // Of a body; larger ones are split.
    std::size_t batch_messages_max = 1000;               // More are split too.
    std::chrono::milliseconds batch_recheck = std::chrono::minutes{5};  // For peers without it.
};

/// Brings messages to a peer over a channel: writes them out, signs, and believes only signed
/// answers. A peer that signs in an older way gets single messages so signed, and its answers count
/// as they are, since it cannot sign them.
///
/// Lifetime: keys and clock outlive it.
/// Threads:  any that the channel allows.
/// Cancel:   as every transport's.
class wire_transport final : public transport {
public:
    wire_transport(std::unique_ptr<wire_channel> channel, const peer_keys& keys, const clock& time,
                   wire_transport_options options);

    task<std::vector<delivery>> deliver(message_batch batch) override;
    /// Writes it out and signs it.
    void prepare(const message& next) override;

private:
    struct parcel;
    struct believed;
    /// A request that can be sent as it is for a while, if message and keys are still those. Its
    /// commit may have come to nothing, and another of the same id be stored instead.
    struct ready_request {
        message of;
        std::weak_ptr<const key_ring> keys;
        steady_time until;
        wire_request request;
    };
    using answers = std::vector<delivery>;

    [[nodiscard]] parcel pack(const message_batch& batch, std::size_t from, bool many) const;
    [[nodiscard]] std::shared_ptr<const key_ring> find_keys() const;
    [[nodiscard]] bool may_batch() const;
    /// What was prepared for a batch, if it was.
    [[nodiscard]] std::optional<wire_request> take_ready(const message_batch& batch);
    [[nodiscard]] result<wire_request> with_signature(wire_request request,
                                                      const key_ring* keys) const;

    // Each adds an answer for every message it had, and returns false if the way is broken, so that
    // there is no use in going on.
    task<bool> send_all(const message_batch& batch, answers& to);
    task<bool> send_one(wire_request request, answers& to);
    task<bool> send_many(const message_batch& batch, parcel packed, answers& to);
    task<bool> send_singly(const message_batch& batch, std::size_t from, std::size_t count,
                           answers& to);
    task<bool> send_legacy(const message& what, const key_ring& keys, answers& to);
    task<believed> exchange(wire_request request);

    std::unique_ptr<wire_channel> channel_;
    const peer_keys& keys_;
    const clock& time_;
    wire_transport_options options_;
    std::atomic<steady_time> batches_again_at_{};  // Until then the peer is taken to lack them.
    std::mutex preparing_;
    std::optional<ready_request> ready_;
};

/// The transport of a kind that speaks our protocol: signed requests over its channel.
[[nodiscard]] std::unique_ptr<transport> over_wire(std::unique_ptr<wire_channel> channel,
                                                   const transport_request& wanted);

}  // namespace posthorn
