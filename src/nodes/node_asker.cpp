#include "nodes/node_asker.hpp"

#include <algorithm>
#include <utility>

namespace posthorn {

task<result<http_response>> node_asker::get(const watched_node& node, std::string target,
                                            std::size_t bytes_max) const {
    http_request request;
    request.method = "GET";
    request.headers.add("Accept", "application/json");
    if (!node.key.empty()) request.headers.add("Authorization", "Bearer " + node.key);
    co_return co_await web_(node.url + std::move(target), std::move(request),
                            {.exchange_timeout = watch_.timeout, .reply_bytes_max = bytes_max});
}

const watched_node* node_asker::find(std::string_view name) const {
    const auto found = std::ranges::find(watch_.nodes, name, &watched_node::name);
    return found == watch_.nodes.end() ? nullptr : &*found;
}

}  // namespace posthorn
