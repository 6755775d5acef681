#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/failure_board.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "message/validate.hpp"
#include "message/wire/answer.hpp"
#include "message/wire/envelope.hpp"
#include "transport/transport.hpp"
#include "transport/wire/exchange.hpp"
#include "transport/wire/log_rate_limit.hpp"
#include "transport/wire/peer_keys.hpp"

namespace posthorn {

struct wire_server_options {
    std::string service;              // Our own id, which requests must be meant for.
    std::vector<std::string> urls{};  // By which senders without a route may mean us as well.
    std::size_t messages_max = 1000;
    std::size_t requests_at_work_max = 256;
    std::size_t answer_payload_bytes_max = std::size_t{2} << 20;  // Of a batch; see `shorten`.
    message_limits limits{};
};

/// What a wire server is built from; all of it outlives it.
struct wire_server_deps {
    receiver& to;
    const peer_keys& keys;
    const clock& time;
    logger& log;
};

struct wire_counts {
    std::uint64_t bad_signatures = 0;
    std::uint64_t malformed = 0;
    std::uint64_t overloaded = 0;
};

/// Answers what comes over the wire: verifies, reads, has it taken in, signs what came of it.
///
/// Lifetime: outlives its requests.
/// Threads:  any.
/// Cancel:   as the receiver's.
class wire_server {
public:
    wire_server(wire_server_deps parts, wire_server_options options);

    task<wire_reply> answer(wire_request request);
    /// What is answered to a request whose headers alone show that it will be refused, so that its
    /// body need not be read; nothing where the body has to be seen.
    std::optional<wire_reply> refuse_by_head(const wire_request& head);
    [[nodiscard]] wire_counts counts() const;
    /// The senders with a secret here of whom no request passes the check. Others are strangers,
    /// who may call themselves anything.
    [[nodiscard]] const failure_board& distrusted() const noexcept { return distrusted_; }

private:
    using read_messages = std::vector<result<message>>;

    /// For a request that carries no signature of ours, but may carry an older one.
    task<wire_reply> answer_legacy(wire_request request);
    /// For a request to one endpoint, from the peer on x-workflow that has signed it.
    task<wire_reply> answer_workflow(wire_request request);
    task<wire_reply> hand_on(result<message> read);
    /// The name of ours that a request is for, or our id if it is for another service.
    [[nodiscard]] const std::string& meant(const wire_request& request) const;
    [[nodiscard]] static result<> check_sender(const wire_request& request, const key_ring* keys);
    [[nodiscard]] result<> check(const wire_request& request, const key_ring* keys) const;
    /// A peer that shows a certificate speaks in no name but its own.
    [[nodiscard]] static result<> check_certified(const wire_request& request,
                                                  std::string_view source);
    [[nodiscard]] envelope_rules rules() const;
    [[nodiscard]] result<read_messages> read(const wire_request& request) const;
    task<std::vector<wire_answer>> take_in(const read_messages& read);
    void shorten(std::vector<wire_answer>& answers) const;

    [[nodiscard]] wire_reply distrust(const wire_request& request, std::optional<uuid> id,
                                      const error& why);
    [[nodiscard]] wire_reply shed(const wire_request& request, const key_ring* keys);
    void seal(wire_reply& reply, const wire_request& request, const key_ring& keys);

    wire_server_deps parts_;
    wire_server_options options_;
    log_rate_limit distrusted_lines_{20};
    failure_board distrusted_;
    std::atomic<std::size_t> at_work_ = 0;
    std::atomic<std::uint64_t> bad_signatures_ = 0;
    std::atomic<std::uint64_t> malformed_ = 0;
    std::atomic<std::uint64_t> overloaded_ = 0;
};

}  // namespace posthorn
