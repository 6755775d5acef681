#include "transport/nats/nats_publisher.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "transport/broker/broker_answers.hpp"
#include "transport/nats/nats_rules.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::milliseconds pause_min{100};
constexpr std::chrono::milliseconds pause_max{2'000};
constexpr std::size_t out_max = 2'000;

}  // namespace

class nats_publisher::ledger final : public nats_listener {
public:
    std::uint64_t add(std::shared_ptr<publication> of, std::size_t which) {
        const std::lock_guard held(mutex_);
        // What no coroutine waits for: a server that refuses the subject without a word never answers.
        if (out_.size() >= out_max)
            std::erase_if(out_, [](const auto& each) { return each.second.of->is_over(); });
        out_.emplace(++last_, place{std::move(of), which});
        return last_;
    }

    void answer(std::uint64_t number, delivery what) {
        if (const auto one = take(number)) one->of->answer(one->which, std::move(what));
    }

    void answered(std::string_view subject, nats_message what) override {
        std::uint64_t number = 0;
        const auto [end, bad] = std::from_chars(subject.begin(), subject.end(), number);
        if (bad != std::errc{} || end != subject.end()) return;
        const auto one = take(number);
        if (!one) return;
        const std::string_view body(natsMsg_GetData(what.get()),
                                    static_cast<std::size_t>(natsMsg_GetDataLength(what.get())));
        one->of->answer(
            one->which,
            judge_nats_answer({.no_responders = natsMsg_IsNoResponders(what.get()), .body = body},
                              one->of->messages()[one->which].address));
    }

    void ended(const error& why) override {
        std::map<std::uint64_t, place> all;
        {
            const std::lock_guard held(mutex_);
            all.swap(out_);
        }
        for (const auto& [number, one] : all)
            one.of->answer(one.which, broker_is_silent(why.what()));
    }

private:
    struct place {
        std::shared_ptr<publication> of;
        std::size_t which = 0;
    };

    std::optional<place> take(std::uint64_t number) {
        const std::lock_guard held(mutex_);
        const auto found = out_.find(number);
        if (found == out_.end()) return std::nullopt;
        auto one = std::move(found->second);
        out_.erase(found);
        return one;
    }

    std::mutex mutex_;
    std::map<std::uint64_t, place> out_;
    std::uint64_t last_ = 0;  // Never used again, so that a late answer finds nothing.
};

nats_publisher::nats_publisher(deps with)
    : with_(std::move(with)), out_(std::make_shared<ledger>()), pause_(pause_min) {}

nats_publisher::~nats_publisher() {
    stopping_ = true;
    names_.cut();
}

void nats_publisher::publish(std::shared_ptr<publication> batch) {
    thread_.post([this, batch = std::move(batch)] { send(batch); });
}

result<> nats_publisher::connect() {
    POSTHORN_TRY(names_.ask(with_.at.url.host));
    std::string password;
    if (with_.password) {
        POSTHORN_LET(read, with_.password());
        password = std::move(read);
    }
    POSTHORN_LET(made, nats_connection::open(with_.at, password, out_));
    connection_ = std::move(made);
    return {};
}

void nats_publisher::send(const std::shared_ptr<publication>& batch) {
    // One that its lane has given up would be sent twice.
    if (stopping_ || batch->is_over()) return;
    if (connection_ && !connection_->is_open()) {
        connection_.reset();
        out_->ended({error_code::unreachable, "NATS went away"});
    }
    if (!connection_) {
        const auto now = with_.env.clock.steady();
        if (now < next_try_) return batch->answer_all(broker_is_silent(why_.what()));
        if (const auto made = connect(); !made) {
            why_ = made.error();
            next_try_ = with_.env.clock.steady() + pause_;
            pause_ = std::min(pause_ * 2, pause_max);
            return batch->answer_all(broker_is_silent(why_.what()));
        }
        pause_ = pause_min;
    }
    for (std::size_t i = 0; i < batch->messages().size() && !stopping_; ++i) {
        const auto lost = send_one(batch, i);
        if (!lost) continue;
        // Each further one would wait as long for a server that takes nothing.
        connection_.reset();
        out_->ended(*lost);
        return batch->answer_all(broker_is_silent(lost->what()));
    }
}

std::optional<error> nats_publisher::send_one(const std::shared_ptr<publication>& batch,
                                              std::size_t which) {
    const auto& one = batch->messages()[which];
    const auto number = out_->add(batch, which);
    const auto made = make_nats_message(one, connection_->inbox(std::to_string(number)));
    if (!made) {
        out_->answer(number, broker_never_takes(error_code::invalid_argument, made.error().what()));
        return std::nullopt;
    }
    switch (const auto code = natsConnection_PublishMsg(connection_->raw(), made->get()); code) {
        case NATS_OK: break;
        case NATS_MAX_PAYLOAD:
            out_->answer(
                number,
                broker_never_takes(error_code::message_too_large,
                                   fmt::format("NATS takes {} bytes at most, headers included; "
                                               "raise its max_payload, or send less",
                                               natsConnection_GetMaxPayload(connection_->raw()))));
            break;
        case NATS_INVALID_SUBJECT:
            out_->answer(number, broker_never_takes(error_code::invalid_argument,
                                                    "the subject is refused by NATS"));
            break;
        default: return nats_error(code, "NATS went away");
    }
    return std::nullopt;
}

}  // namespace posthorn
