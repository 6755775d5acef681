#include "app/cli/kit/admin_source.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "transport/http/http_client.hpp"

namespace posthorn::cli {
namespace {

/// Asks a running node through its admin listener.
class node_source final : public admin_source {
public:
    explicit node_source(node_address address) : address_(std::move(address)) {
        while (address_.url.ends_with('/')) address_.url.pop_back();
    }

    [[nodiscard]] std::string_view name() const override { return address_.url; }
    result<http_response> exchange(const admin_question& what) override;

private:
    node_address address_;
};

task<result<http_response>> send(boost::asio::any_io_executor where, std::string url,
                                 http_request request, std::chrono::milliseconds patience) {
    real_timer time;
    task_group tasks(where);
    http_client client({.where = where, .tasks = tasks, .time = time});
    auto reply =
        co_await client.send(std::move(url), std::move(request), {.exchange_timeout = patience});
    client.stop();
    co_await tasks.join();
    co_return reply;
}

result<http_response> node_source::exchange(const admin_question& what) {
    auto request = to_request(what);
    if (!address_.key.empty()) request.headers.add("Authorization", "Bearer " + address_.key);
    io_threads network("posthorn-io");
    auto reply = start(network.executor(), send(network.executor(), address_.url + what.path,
                                                std::move(request), address_.patience))
                     .get();
    network.stop();
    if (!reply && reply.error().code() == error_code::unreachable)
        return fail(error_code::unreachable,
                    "{}; is the node running, and is this its admin address?",
                    reply.error().what());
    return reply;
}

}  // namespace

std::unique_ptr<admin_source> make_node_source(node_address address) {
    return std::make_unique<node_source>(std::move(address));
}

}  // namespace posthorn::cli
