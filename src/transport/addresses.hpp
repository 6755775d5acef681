#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace posthorn {

/// What follows from the answers of one of several addresses. Pure.
///
/// | it said | then |
/// |---|---|
/// | of any message what became of it: delivered, failed, refused | those are the answers |
/// | of none: nothing, or to come again later | the next one is asked |
[[nodiscard]] bool asks_next_address(const std::vector<delivery>& answers);
/// Of the answers of two addresses neither of which said anything of the messages, those to go by:
/// a plea for patience charges no message, and silence does. Pure.
[[nodiscard]] std::vector<delivery> kinder_answers(std::vector<delivery> one,
                                                   std::vector<delivery> other);

/// The way to a service that is found at one of several addresses, such as a primary and the
/// standby that may take its place. It goes on with the one that answered last.
///
/// The addresses share their inbox, so that a message that comes to two of them takes effect once.
class several_addresses final : public transport {
public:
    /// At least one.
    explicit several_addresses(std::vector<std::unique_ptr<transport>> ways);

    task<std::vector<delivery>> deliver(message_batch batch) override;
    task<std::vector<delivery>> deliver_again(message_batch batch,
                                              std::vector<std::int32_t> failed) override;
    void prepare(const message& next) override;

private:
    template <class Ask>
    task<std::vector<delivery>> ask_in_turn(Ask ask);

    const std::vector<std::unique_ptr<transport>> ways_;
    std::atomic<std::size_t> now_ = 0;  // The one that answered last.
};

}  // namespace posthorn
