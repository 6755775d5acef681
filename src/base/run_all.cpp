#include "base/run_all.hpp"

#include <exception>
#include <memory>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/cancellation.hpp"
#include "base/waiter.hpp"

namespace posthorn {
namespace {

struct ending {
    std::shared_ptr<waiter> ended = waiter::make();
    std::exception_ptr failure;
};

}  // namespace

task<> run_all(std::vector<task<>> bodies) {
    const auto where = co_await boost::asio::this_coro::executor;
    std::vector<std::shared_ptr<ending>> endings;
    endings.reserve(bodies.size());
    for (auto& body : bodies) {
        auto end = endings.emplace_back(std::make_shared<ending>());
        boost::asio::co_spawn(where, cancellable(std::move(body)),
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
