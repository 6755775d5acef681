// What stands for NATS in a build that has no libnats.
#include "transport/nats/kind.hpp"
#include "transport/nats/nats_address.hpp"

namespace posthorn {
namespace {

constexpr std::string_view left_out =
    "this program was built without libnats, which nats:// needs; install libnats-dev and "
    "build it with -DPOSTHORN_NATS=ON";

}  // namespace

transport_kind nats_kind() {
    auto kind = nats_words();
    kind.left_out = left_out;
    kind.connect = [](const transport_request&) -> result<std::unique_ptr<transport>> {
        return fail(error_code::invalid_configuration, "{}", left_out);
    };
    return kind;
}

broker_kind nats_broker() {
    auto kind = nats_broker_words();
    kind.left_out = left_out;
    kind.consume = [](consume_request) -> result<std::unique_ptr<broker_consumer>> {
        return fail(error_code::invalid_configuration, "{}", left_out);
    };
    return kind;
}

}  // namespace posthorn
