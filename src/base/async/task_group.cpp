#include "base/async/task_group.hpp"

#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>

#include "base/assert.hpp"

namespace posthorn {

namespace asio = boost::asio;

task_group::task_group(asio::any_io_executor where) : where_(std::move(where)) {}

task_group::~task_group() { POSTHORN_ASSERT(members_.empty()); }

void task_group::spawn(task<> body) {
    asio::cancellation_signal* ignored = nullptr;
    spawn(std::move(body), ignored);
}

void task_group::spawn(task<> body, asio::cancellation_signal*& alone) {
    const auto member = members_.emplace(members_.end());
    alone = &*member;  // Before it starts, since it may end at once.
    asio::co_spawn(where_, cancellable(std::move(body)),
                   asio::bind_cancellation_slot(member->slot(),
                                                [this, member](const std::exception_ptr& failure) {
                                                    finish(member, failure);
                                                }));
    if (cancelled_) member->emit(asio::cancellation_type::terminal);
}

void task_group::finish(std::list<asio::cancellation_signal>::iterator member,
                        const std::exception_ptr& failure) {
    members_.erase(member);
    if (failure && !failure_) failure_ = failure;
    if (members_.empty() && joining_) joining_->wake();
}

void task_group::cancel() {
    cancelled_ = true;
    // A member may end, and leave the list, while it is being told.
    for (auto next = members_.begin(); next != members_.end();) {
        auto& member = *next++;
        member.emit(asio::cancellation_type::terminal);
    }
}

task<> task_group::join() {
    // Waiting is not cut short by cancellation: members may still use what the caller owns.
    while (!members_.empty()) {
        joining_ = waiter::make();
        co_await joining_->wait_regardless();
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

task<> run_all(std::vector<task<>> bodies) {
    struct ending {
        std::shared_ptr<waiter> ended = waiter::make();
        std::exception_ptr failure;
    };
    const auto where = co_await asio::this_coro::executor;
    std::vector<std::shared_ptr<ending>> endings;
    endings.reserve(bodies.size());
    for (auto& body : bodies) {
        auto end = endings.emplace_back(std::make_shared<ending>());
        asio::co_spawn(where, cancellable(std::move(body)),
                       [end = std::move(end)](std::exception_ptr failure) {
                           end->failure = std::move(failure);
                           end->ended->wake();
                       });
    }
    std::exception_ptr first;
    for (const auto& end : endings) {
        co_await end->ended->wait_regardless();
        if (!first) first = end->failure;
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace posthorn
