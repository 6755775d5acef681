#include "nodes/node_watcher.hpp"

#include <boost/asio/this_coro.hpp>

#include "base/async/bell.hpp"
#include "base/async/task_group.hpp"
#include "nodes/nodes_table.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

/// A healthy answer has less than a kilobyte.
constexpr std::size_t health_bytes_max = std::size_t{256} * 1024;

}  // namespace

task<> node_watcher::run() {
    task_group watching(co_await boost::asio::this_coro::executor);
    for (const auto& each : asker_.watch().nodes) watching.spawn(watch(each));
    bell never;
    std::ignore = co_await never.wait();
    watching.cancel();
    co_await watching.join();
}

task<> node_watcher::watch(const watched_node& node) {
    do {
        co_await ask(node);
    } while (co_await env_.timer.sleep_for(asker_.watch().every));
}

task<> node_watcher::ask(const watched_node& node) {
    const auto begun = env_.clock.steady();
    const auto answer = co_await asker_.get(node, "/_rf/health", health_bytes_max);
    if (!answer && (stopping_ || answer.error().code() == error_code::cancelled ||
                    answer.error().code() == error_code::closed))
        co_return;
    const light_seen seen{.node = node.name,
                          .light = read_light(answer, !node.key.empty()),
                          .at = env_.clock.wall(),
                          .latency = std::chrono::duration_cast<std::chrono::milliseconds>(
                              env_.clock.steady() - begun)};
    const auto every = asker_.watch().every;
    const auto written = co_await commit(
        where_, [seen, every](store_transaction& tx) { return record_light(tx, seen, every); });
    if (!written && !fails_)
        env_.log.warn("Nodes: what they say cannot be written: {Error}",
                      {{"Error", written.error().what()}});
    fails_ = !written;
}

}  // namespace posthorn
