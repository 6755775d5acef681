#include "transport/broker/broker_transport.hpp"

#include "base/text/utf8.hpp"
#include "transport/broker/broker_answers.hpp"

namespace posthorn {

task<std::vector<delivery>> broker_transport::deliver(message_batch batch) {
    std::vector<delivery> answers(batch.size());
    std::vector<broker_message> messages;
    std::vector<std::size_t> places;  // Of those that are sent.
    for (std::size_t i = 0; i < batch.size(); ++i) {
        auto one = to_broker(*batch[i], options_.address);
        if (one.address.size() > options_.address_bytes_max || !options_.is_address(one.address)) {
            answers[i] = broker_never_takes(
                error_code::invalid_argument,
                fmt::format("'{}' cannot be an address of the broker's; correct the endpoint, or "
                            "the pattern of the route",
                            clean_utf8(one.address, 300)));
            continue;
        }
        messages.push_back(std::move(one));
        places.push_back(i);
    }
    if (messages.empty()) co_return answers;
    const auto sent = std::make_shared<publication>(std::move(messages));
    to_->publish(sent);
    auto came = co_await sent->answers();
    for (std::size_t i = 0; i < places.size(); ++i) answers[places[i]] = std::move(came[i]);
    co_return answers;
}

}  // namespace posthorn
