#include "transport/amqp/amqp_publisher.hpp"

#include <utility>

#include "base/text/utf8.hpp"
#include "transport/broker/broker_answers.hpp"

namespace posthorn {
namespace {

std::string headers_too_long(std::size_t frame_bytes) {
    return fmt::format(
        "its headers do not fit into the {} bytes of a frame; send less in them, or raise "
        "RabbitMQ's frame_max",
        frame_bytes);
}

}  // namespace

amqp_publisher::amqp_publisher(amqp_link::deps with, std::string exchange)
    : exchange_(std::move(exchange)), link_(std::move(with), *this) {}

void amqp_publisher::publish(std::shared_ptr<publication> batch) {
    {
        const std::lock_guard held(mutex_);
        // The link may hang in a write meanwhile, and lanes give up one batch after the other.
        std::erase_if(waiting_, [](const auto& each) { return each->is_over(); });
        waiting_.push_back(std::move(batch));
    }
    link_.wake();
}

std::deque<std::shared_ptr<publication>> amqp_publisher::take_waiting() {
    const std::lock_guard held(mutex_);
    return std::exchange(waiting_, {});
}

bool amqp_publisher::wants_connection() {
    const std::lock_guard held(mutex_);
    return !waiting_.empty();
}

result<> amqp_publisher::begin(amqp_connection& on) {
    blocked_.clear();
    return on.ask_for_confirms();
}

result<> amqp_publisher::attend(amqp_connection& on) {
    result<> sent;
    for (const auto& batch : take_waiting()) {
        if (batch->is_over()) continue;  // It would be sent twice: its lane tries it anew.
        if (!sent)
            batch->answer_all(broker_is_silent(sent.error().what()));
        else if (!blocked_.empty())
            batch->answer_all(broker_is_full(blocked_));
        else
            sent = send(on, batch);
    }
    return sent;
}

result<> amqp_publisher::send(amqp_connection& on, const std::shared_ptr<publication>& batch) {
    for (std::size_t i = 0; i < batch->messages().size(); ++i) {
        if (!on.carries(batch->messages()[i])) {
            batch->answer(i, broker_never_takes(error_code::message_too_large,
                                                headers_too_long(on.frame_bytes_max())));
            continue;
        }
        if (alone_ > 0 && ledger_.out() > 0) {
            batch->answer(i, judge_turn_of_others());
            continue;
        }
        ledger_.sent(batch, i);
        if (auto sent = on.publish(exchange_, batch->messages()[i]); !sent) {
            batch->answer_all(broker_is_silent(sent.error().what()));
            return sent;
        }
    }
    return {};
}

void amqp_publisher::happened(const amqp_event& what) {
    if (const auto* const said = std::get_if<amqp_confirm>(&what)) {
        if (alone_ > 0) --alone_;
        return said->taken ? ledger_.confirmed(said->number, said->all_before)
                           : ledger_.refused(said->number, said->all_before);
    }
    if (const auto* const back = std::get_if<amqp_return>(&what)) return ledger_.returned(*back);
    if (const auto* const blocked = std::get_if<amqp_blocked>(&what)) {
        blocked_ = blocked->is_blocked
                       ? "RabbitMQ takes nothing now: " + clean_utf8(blocked->why, 200)
                       : std::string();
        return;
    }
    const auto* const closed = std::get_if<amqp_closed>(&what);
    if (closed == nullptr) return;
    if (closed->whole_connection) return ledger_.lost(judge_connection_close(closed->why));
    const auto out = ledger_.out();
    if (blames_a_message(closed->why)) alone_ = out > 1 ? out : 0;
    ledger_.lost(judge_channel_close(closed->why, out));
}

// What was not sent yet waits for the next connection.
void amqp_publisher::lost(const error& why) { ledger_.lost(broker_is_silent(why.what())); }

void amqp_publisher::unreached(const error& why) {
    const auto silent = broker_is_silent(why.what());
    for (const auto& batch : take_waiting()) batch->answer_all(silent);
}

}  // namespace posthorn
