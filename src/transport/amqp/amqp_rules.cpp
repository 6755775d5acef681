#include "transport/amqp/amqp_rules.hpp"

#include <algorithm>

#include "base/text/utf8.hpp"
#include "transport/broker/broker_answers.hpp"

namespace posthorn {
namespace {

constexpr std::uint16_t content_too_large = 311;
constexpr std::uint16_t access_refused = 403;
constexpr std::uint16_t not_found = 404;
constexpr std::uint16_t precondition_failed = 406;
constexpr std::size_t out_max = 2'000;

std::string said(const amqp_close& why) {
    return fmt::format("{} {}", why.code, clean_utf8(why.text, 500));
}

}  // namespace

delivery judge_channel_close(const amqp_close& why, std::size_t out) {
    switch (why.code) {
        case not_found:
            return broker_has_no_place(
                fmt::format("RabbitMQ answers {}; declare the exchange there, or correct the route",
                            said(why)));
        case access_refused:
            return broker_has_no_place(
                fmt::format("RabbitMQ answers {}; give the user the right to write to the exchange",
                            said(why)));
        case content_too_large:
        case precondition_failed:
            if (out == 1)
                return broker_never_takes(why.code == content_too_large
                                              ? error_code::message_too_large
                                              : error_code::invalid_argument,
                                          fmt::format("RabbitMQ answers {}", said(why)));
            break;
        default: break;
    }
    return broker_is_silent(fmt::format("RabbitMQ closed the channel: {}", said(why)));
}

delivery judge_connection_close(const amqp_close& why) {
    return broker_is_silent(fmt::format("RabbitMQ closed the connection: {}", said(why)));
}

bool blames_a_message(const amqp_close& why) noexcept {
    return why.code == content_too_large || why.code == precondition_failed;
}

delivery judge_turn_of_others() {
    return broker_is_full(
        "RabbitMQ closed the channel for one of several messages, which go one at a time until it "
        "is found");
}

delivery judge_return(const amqp_return& what) {
    return broker_has_no_place(fmt::format(
        "the exchange '{}' has no queue for the key '{}' ({} {}); bind one, or correct the route",
        clean_utf8(what.exchange, 255), clean_utf8(what.key, 255), what.code,
        clean_utf8(what.text, 200)));
}

delivery judge_nack() {
    return broker_is_full("RabbitMQ refused it: a queue is full, or cannot be written");
}

// A queue without its majority confirms nothing, for as long as that is so.
void confirm_ledger::sent(std::shared_ptr<publication> of, std::size_t which) {
    if (out_.size() >= out_max)
        std::erase_if(out_, [](const auto& each) { return each.second.of->is_over(); });
    out_.emplace(++last_, place{.of = std::move(of), .which = which});
}

// The Return names the message by its id alone; what was sent first comes back first.
void confirm_ledger::returned(const amqp_return& what) {
    const auto found = std::ranges::find_if(out_, [&](const auto& each) {
        const auto& [number, one] = each;
        return !one.returned && one.of->messages()[one.which].id == what.id;
    });
    if (found != out_.end()) found->second.returned = judge_return(what);
}

void confirm_ledger::answer(std::uint64_t number, bool all_before, const delivery& what) {
    const auto end = out_.upper_bound(number);
    for (auto one = all_before ? out_.begin() : out_.lower_bound(number); one != end;
         one = out_.erase(one)) {
        auto& [of, which, returned] = one->second;
        of->answer(which, returned ? *std::move(returned) : what);
    }
}

void confirm_ledger::confirmed(std::uint64_t number, bool all_before) {
    answer(number, all_before, broker_has_it());
}

void confirm_ledger::refused(std::uint64_t number, bool all_before) {
    answer(number, all_before, judge_nack());
}

// What came back has no place, whatever became of the channel.
void confirm_ledger::lost(const delivery& why) {
    answer(last_, true, why);
    last_ = 0;
}

}  // namespace posthorn
