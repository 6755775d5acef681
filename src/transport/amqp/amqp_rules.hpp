#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "transport/broker/publication.hpp"

namespace posthorn {

// What RabbitMQ's words mean for the messages that are out.
//
// | it sends                              | those concerned             | become                    |
// |---------------------------------------|-----------------------------|---------------------------|
// | Return, then Ack                      | the one with that id        | undeliverable: unroutable |
// | Ack                                   | that one, or all up to it   | delivered                 |
// | Nack                                  | likewise                    | throttled: a queue is full|
// | Channel.Close 404                     | all that are out            | undeliverable: unroutable |
// | Channel.Close 403                     | all that are out            | undeliverable             |
// | Channel.Close 406 or 311, one is out  | that one                    | permanent                 |
// | Channel.Close 406 or 311, several are | all of them                 | unanswered                |
// | any other close, or nothing any more  | all that are out            | unanswered                |
//
// A channel is closed for what one message did, and RabbitMQ does not say which. So as many as were
// out then go out one at a time from there on, each when the one before it is confirmed; those that
// would have gone with it are throttled. When it is its turn, it is found.

/// Why the broker closed a channel or a connection.
struct amqp_close {
    std::uint16_t code = 0;
    std::string text{};
};

/// Pure. `out` is how many messages are without a confirmation.
[[nodiscard]] delivery judge_channel_close(const amqp_close& why, std::size_t out);
[[nodiscard]] delivery judge_connection_close(const amqp_close& why);
/// Whether one of the messages that were out is to blame. Pure.
[[nodiscard]] bool blames_a_message(const amqp_close& why) noexcept;
[[nodiscard]] delivery judge_turn_of_others();
/// A message that the broker sent back since no queue takes it. Pure.
struct amqp_return {
    std::string id;
    std::uint16_t code = 0;
    std::string text{};
    std::string exchange{};
    std::string key{};
};
[[nodiscard]] delivery judge_return(const amqp_return& what);
[[nodiscard]] delivery judge_nack();

/// Which messages of a channel are out, by the numbers that both sides count.
///
/// Threads: one at a time.
class confirm_ledger {
public:
    /// The next number is that of this message. When many are out, those are forgotten that no lane
    /// waits for any more.
    void sent(std::shared_ptr<publication> of, std::size_t which);
    void returned(const amqp_return& what);
    /// Numbers that are not out are passed over: what a broker says is no proof of anything else.
    void confirmed(std::uint64_t number, bool all_before);
    void refused(std::uint64_t number, bool all_before);
    /// The channel is gone; a new one counts from the beginning.
    void lost(const delivery& why);

    [[nodiscard]] std::size_t out() const noexcept { return out_.size(); }

private:
    struct place {
        std::shared_ptr<publication> of;
        std::size_t which = 0;
        std::optional<delivery> returned{};
    };

    void answer(std::uint64_t number, bool all_before, const delivery& what);

    std::map<std::uint64_t, place> out_;
    std::uint64_t last_ = 0;
};

}  // namespace posthorn
