#include "store/async.hpp"

#include "base/async/run_on.hpp"

namespace posthorn {
namespace {

/// Where a coroutine waits for an answer from another thread.
struct answer {
    std::shared_ptr<waiter> arrival = waiter::make();
    result<> value;
};

task<result<>> wait_for(std::shared_ptr<answer> pending) {
    co_await pending->arrival->wait_regardless();
    co_return std::move(pending->value);
}

unit::done_type deliver_to(std::shared_ptr<answer> pending) {
    return [pending = std::move(pending)](result<> outcome) {
        pending->value = std::move(outcome);
        pending->arrival->wake();
    };
}

}  // namespace

task<result<>> commit(store& where, unit::work_type work) {
    auto pending = std::make_shared<answer>();
    where.submit({.work = std::move(work), .done = deliver_to(pending)});
    co_return co_await wait_for(std::move(pending));
}

task<result<>> read(store& where, executor& readers, std::function<result<>(store_reader&)> look) {
    return run_on(readers, [&where, look = std::move(look)] { return where.read(look); });
}

task<result<>> barrier(store& where) {
    auto pending = std::make_shared<answer>();
    where.barrier(deliver_to(pending));
    co_return co_await wait_for(std::move(pending));
}

}  // namespace posthorn
