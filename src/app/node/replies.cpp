#include "app/node/replies.hpp"

#include <condition_variable>
#include <optional>
#include <utility>
#include <vector>

#include "store/inside_unit.hpp"

namespace posthorn {

class replies::waiting_reply final : public detail::reply_state,
                                     public std::enable_shared_from_this<waiting_reply> {
public:
    waiting_reply(std::shared_ptr<replies> in, std::string correlation_id)
        : in_(std::move(in)), correlation_id_(std::move(correlation_id)) {}
    ~waiting_reply() override { in_->forget(correlation_id_); }
    waiting_reply(const waiting_reply&) = delete;
    waiting_reply& operator=(const waiting_reply&) = delete;

    struct answer {
        std::string payload;
        std::exception_ptr failure;
    };

    void finish(answer with) {
        detail::unique_function<void()> ready;
        {
            const std::lock_guard lock(mutex_);
            if (answer_) return;
            answer_ = std::move(with);
            ready = std::exchange(ready_, nullptr);
        }
        changed_.notify_all();
        answered_->ring();
        if (ready) ready();
    }

    [[nodiscard]] bool is_ready() const override {
        const std::lock_guard lock(mutex_);
        return answer_.has_value();
    }

    [[nodiscard]] std::string take(std::chrono::milliseconds within) override {
        value_or_throw(require_outside_unit());  // The Response could not be taken in meanwhile.
        std::unique_lock lock(mutex_);
        const auto has_come = [&] { return answer_.has_value(); };
        if (within == std::chrono::milliseconds::max())
            changed_.wait(lock, has_come);
        else if (!changed_.wait_for(lock, within, has_come))
            throw error(error_code::timed_out,
                        "no response has come yet; wait longer, or handle it with handle_response");
        if (answer_->failure) std::rethrow_exception(answer_->failure);
        return answer_->payload;
    }

    void then(detail::unique_function<void()> ready, std::chrono::milliseconds within) override {
        const auto self =
            shared_from_this();  // Who waits may go on, and let go of it, at any time.
        {
            const std::lock_guard lock(mutex_);
            if (!answer_) ready_ = std::exchange(ready, nullptr);
        }
        if (ready) return ready();
        if (within == std::chrono::milliseconds::max()) return;
        in_->limit({within, answered_, [waiting = weak_from_this()] {
                        if (const auto one = waiting.lock()) one->give_up();
                    }});
    }

private:
    void give_up() {
        detail::unique_function<void()> ready;
        {
            const std::lock_guard lock(mutex_);
            ready = std::exchange(ready_, nullptr);
        }
        if (ready) ready();
    }

    std::shared_ptr<replies> in_;
    std::string correlation_id_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<answer> answer_;
    std::shared_ptr<bell> answered_ = std::make_shared<bell>();
    detail::unique_function<void()> ready_;
};

result<std::shared_ptr<detail::reply_state>> replies::expect(std::string correlation_id,
                                                             std::string_view from) {
    auto made = std::make_shared<waiting_reply>(shared_from_this(), correlation_id);
    const std::lock_guard lock(mutex_);  // Gone before `made` is, which takes it too.
    if (closed_)
        return posthorn::fail(error_code::closed, "the node has stopped; nothing can be called");
    auto& call = waiting_[std::move(correlation_id)];
    if (!call.waiting.expired())
        return posthorn::fail(error_code::invalid_argument,
                              "a call with this correlation id waits already; give each its own");
    call = {.waiting = made, .to = std::string(from)};
    return made;
}

std::shared_ptr<replies::waiting_reply> replies::take(std::string_view correlation_id) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(correlation_id);
    if (found == waiting_.end()) return nullptr;
    auto waiting = found->second.waiting.lock();
    waiting_.erase(found);
    return waiting;
}

bool replies::complete(std::string_view correlation_id, std::string_view from, std::string payload,
                       std::exception_ptr refusal) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = waiting_.find(correlation_id);
        // An answer from another service must not end the wait either.
        if (found != waiting_.end() && found->second.to != from) return false;
    }
    if (const auto waiting = take(correlation_id))
        waiting->finish({std::move(payload), std::move(refusal)});
    return true;
}

void replies::fail(std::string_view correlation_id, std::exception_ptr why) {
    if (const auto waiting = take(correlation_id)) waiting->finish({{}, std::move(why)});
}

void replies::close() {
    std::vector<std::shared_ptr<waiting_reply>> left;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        for (const auto& [id, call] : std::exchange(waiting_, {}))
            if (auto one = call.waiting.lock()) left.push_back(std::move(one));
    }
    const auto why = std::make_exception_ptr(error(
        error_code::closed,
        "the node stopped before the response came; handle_response takes it after a restart"));
    for (const auto& one : left) one->finish({{}, why});
}

bool replies::is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

void replies::limit(reply_limit to) {
    const std::lock_guard lock(mutex_);
    if (!closed_) watch_(std::move(to));  // Otherwise `close` has answered it, or is about to.
}

void replies::forget(const std::string& correlation_id) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(correlation_id);
    // Another call may have taken the id since.
    if (found != waiting_.end() && found->second.waiting.expired()) waiting_.erase(found);
}

}  // namespace posthorn
