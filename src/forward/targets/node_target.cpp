#include "forward/targets/node_target.hpp"

#include <utility>

namespace posthorn {
namespace {

constexpr std::string_view whole_target = "{target}";
// The receiver keeps the id for as long, and refuses what comes later.
constexpr std::chrono::days taken_once_for{30};

task<asked_outcome> bring(node_target to, const peer_calls& peers, forward_message work) {
    auto endpoint = to.endpoint == whole_target ? work.target : to.endpoint;
    auto answer = co_await peers.ask({.service = std::move(to.service),
                                      .endpoint = std::move(endpoint),
                                      .payload = std::move(work.payload),
                                      .options = {.id = work.id, .expires_in = taken_once_for},
                                      .created_at = work.created_at});
    answer.payload.clear();
    co_return asked_outcome{.what = std::move(answer)};
}

}  // namespace

std::optional<node_target> read_node_target(std::string_view to) {
    if (!to.starts_with(node_scheme)) return std::nullopt;
    to.remove_prefix(node_scheme.size());
    const auto slash = to.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == to.size())
        return std::nullopt;
    return node_target{std::string(to.substr(0, slash)), std::string(to.substr(slash + 1))};
}

forward_asker make_node_asker(node_target to, const peer_calls& peers) {
    return [to = std::move(to), &peers](forward_message work) {
        return bring(to, peers, std::move(work));
    };
}

}  // namespace posthorn
