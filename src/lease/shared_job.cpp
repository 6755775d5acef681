#include "lease/shared_job.hpp"

#include <utility>

#include <boost/asio/this_coro.hpp>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"

namespace posthorn {

shared_job::shared_job(deps with, lease_options options, std::string name,
                       std::function<task<>()> job)
    : name_(name),
      job_(std::move(job)),
      keeper_({.env = with.env,
               .where = with.where,
               .owner_is_gone = std::move(with.owner_is_gone),
               .changed = [this] { changed_.ring(); },
               .name = std::move(name)},
              std::move(options)) {}

// The work is in a group of its own, which a cancellation of ours does not reach: the lease is
// given back with a commit.
task<> shared_job::run() {
    task_group working(co_await boost::asio::this_coro::executor);
    working.spawn(work());
    bell never;
    std::ignore = co_await never.wait();
    stopping_ = true;
    changed_.ring();
    co_await working.join();
}

task<> shared_job::work() {
    const auto where = co_await boost::asio::this_coro::executor;
    task_group keeping(where);
    keeping.spawn(keeper_.run());
    while (!stopping_) {
        const auto epoch = keeper_.epoch();
        task_group doing(where);
        if (epoch) doing.spawn(job_());
        while (!stopping_ && keeper_.epoch() == epoch) co_await changed_.wait();
        doing.cancel();
        co_await doing.join();
    }
    keeper_.stop();
    co_await keeping.join();
}

std::unique_ptr<node_service> done_by_one(shared_job::deps with, lease_options options,
                                          std::unique_ptr<node_service> job) {
    if (with.where.sharing() == nullptr) return job;
    std::string name(job->name());
    return std::make_unique<shared_job>(
        std::move(with), std::move(options), std::move(name),
        [shared = std::shared_ptr<node_service>(std::move(job))] { return shared->run(); });
}

}  // namespace posthorn
