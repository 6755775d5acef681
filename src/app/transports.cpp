#include "app/transports.hpp"

#include <algorithm>

#include "transport/amqp/kind.hpp"
#include "transport/grpc/kind.hpp"
#include "transport/http/kind.hpp"
#include "transport/inprocess/kind.hpp"
#include "transport/kafka/kind.hpp"
#include "transport/nats/kind.hpp"
#include "transport/pipe/kind.hpp"
#include "transport/unix/kind.hpp"

namespace posthorn {

const std::vector<transport_kind>& all_transports() {
    static const std::vector<transport_kind> all{http_kind(),  unix_kind(),     pipe_kind(),
                                                 grpc_kind(),  amqp_kind(),     nats_kind(),
                                                 kafka_kind(), inprocess_kind()};
    return all;
}

const transport_kind* transport_of(std::string_view url) {
    const auto colon = url.find(':');
    if (colon == url.npos) return nullptr;
    const auto scheme = url.substr(0, colon);
    const auto found = std::ranges::find_if(all_transports(), [&](const transport_kind& each) {
        return std::ranges::find(each.schemes, scheme) != each.schemes.end();
    });
    return found == all_transports().end() ? nullptr : &*found;
}

}  // namespace posthorn
