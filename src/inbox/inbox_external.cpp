// The inbox's way for handlers that work outside of the database.
#include <exception>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "base/cancellation.hpp"
#include "base/waiter.hpp"
#include "base/with_timeout.hpp"
#include "inbox/answers.hpp"
#include "inbox/inbox.hpp"
#include "store/async.hpp"

namespace posthorn {

task<> inbox::run_claimed(arrival& one) {
    auto called = co_await call(one);
    const auto size_max = intake_.options().response_size_max;
    if (called && called->size() > size_max)
        called = std::unexpected(answer_response_too_large(called->size(), size_max));

    if (!called) {
        // If this fails too, the claim runs out by itself.
        const auto released = co_await commit(parts_.database, [&one](store_transaction& tx) {
            auto given_up = tx.inbox().release(one.key(), one.claim_owner);
            return given_up ? result<>{} : result<>(std::unexpected(given_up.error()));
        });
        if (!released)
            parts_.log.warn("Inbox:  Claim on {MessageId} not given up: {Error}",
                            {{"MessageId", one.what->id}, {"Error", released.error().what()}});
        one.settle(std::move(called).error());
        co_return;
    }
    const auto completed = co_await commit(
        parts_.database, [this, &one, response = std::string_view(*called)](store_transaction& tx) {
            return intake_.complete(tx, one, response);
        });
    if (!completed)
        one.settle_by_store(completed.error());
    else if (!one.answered)
        one.settle({.what = outcome::delivered, .payload = *std::move(called)});
}

task<inbox::outcome_of_call> inbox::call(const arrival& one) {
    if (std::holds_alternative<blocking_handler>(one.by->run))
        co_return co_await call_blocking(one);
    co_return co_await call_async(one);
}

task<inbox::outcome_of_call> inbox::call_blocking(const arrival& one) {
    struct pending {
        outcome_of_call value;
        std::shared_ptr<waiter> ended = waiter::make();
    };
    const auto running = std::make_shared<pending>();
    parts_.workers.post([running, &one] {
        try {
            running->value = std::get<blocking_handler>(one.by->run)(*one.what);
        } catch (...) {
            running->value = std::unexpected(answer_to_exception(std::current_exception()));
        }
        running->ended->wake();
    });
    co_await running->ended->wait_regardless();
    co_return std::move(running->value);
}

task<inbox::outcome_of_call> inbox::call_async(const arrival& one) {
    using namespace boost::asio::experimental::awaitable_operators;
    const calls_at_work::place place(at_work_);
    // Whoever is told to give up cancels the call and waits until it has ended.
    auto first = co_await (cancellable(call_within_lease(one)) || cancellable(place.told().wait()));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::unexpected(answer_to_handler_error(
        error(error_code::cancelled, "the node stops before the handler has finished")));
}

task<inbox::outcome_of_call> inbox::call_within_lease(const arrival& one) {
    try {
        auto response = co_await with_timeout(parts_.sleeper, one.by->lease,
                                              std::get<async_handler>(one.by->run)(*one.what));
        if (response) co_return *std::move(response);
        co_return std::unexpected(answer_to_handler_error(response.error()));
    } catch (...) {
        co_return std::unexpected(answer_to_exception(std::current_exception()));
    }
}

}  // namespace posthorn
