#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/transport.hpp"

namespace posthorn {

// What JetStream's words mean for a message that was published.
//
// | it answers                                  | the message becomes                  |
// |---------------------------------------------|--------------------------------------|
// | a stream and a sequence                     | delivered; a duplicate if it says so |
// | no responders (503 without a word)          | undeliverable: unroutable            |
// | an error 500 and above, or of full streams  | throttled                            |
// | an error of the message's size              | permanent                            |
// | any other error                             | transient                            |
// | what is none of these                       | unanswered                           |

/// What came back to the subject that a publication named for its answer.
struct nats_answer {
    bool no_responders = false;
    std::string_view body{};
};

/// Pure. `subject` is where the message went, for the error's text.
[[nodiscard]] delivery judge_nats_answer(const nats_answer& came, std::string_view subject);

/// Whether a message can be published there: tokens between dots, none empty, no wildcards. Pure.
[[nodiscard]] bool is_subject(std::string_view text);

/// Where a message stands, as the subject says that its acknowledgement goes to.
struct nats_place_in_stream {
    std::string stream;
    std::uint64_t deliveries = 1;  // With this one.
    std::uint64_t sequence = 0;

    bool operator==(const nats_place_in_stream&) const = default;
};

/// Reads `$JS.ACK.STREAM.CONSUMER.DELIVERIES.SEQUENCE.…`, or that with domain and account before the
/// stream. Pure. Empty if it is none.
[[nodiscard]] std::optional<nats_place_in_stream> read_ack_subject(std::string_view subject);

/// What JetStream says in place of a message to a consumer that asked for some.
///
/// | status   | means                                                    |
/// |----------|----------------------------------------------------------|
/// | 100      | it is there: nothing to do                               |
/// | 404, 408 | the request is over: ask again                           |
/// | 409      | the consumer is gone, or what was asked is refused: lost |
/// | 503      | no server has the consumer: lost                         |
struct pull_status {
    enum class kind : unsigned char { beat, over, lost };
    kind what = kind::beat;
    /// Of the request, how many will not come; all that are out where it does not say.
    std::optional<std::size_t> unsent{};

    bool operator==(const pull_status&) const = default;
};

/// Pure. Empty if it is none.
[[nodiscard]] std::optional<pull_status> read_pull_status(std::string_view status,
                                                          std::string_view unsent);

}  // namespace posthorn
