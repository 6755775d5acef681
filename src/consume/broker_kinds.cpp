#include "consume/broker_kinds.hpp"

#include <algorithm>

#include "transport/amqp/kind.hpp"
#include "transport/nats/kind.hpp"

namespace posthorn {

const std::vector<broker_kind>& broker_kinds() {
    static const std::vector<broker_kind> all{amqp_broker(), nats_broker()};
    return all;
}

const broker_kind* broker_kind_of(std::string_view url) {
    const auto scheme = url.substr(0, url.find(':'));
    const auto found = std::ranges::find_if(broker_kinds(), [&](const broker_kind& each) {
        return std::ranges::find(each.schemes, scheme) != each.schemes.end();
    });
    return found == broker_kinds().end() ? nullptr : &*found;
}

}  // namespace posthorn
