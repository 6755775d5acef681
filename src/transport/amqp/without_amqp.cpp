// What stands for RabbitMQ in a build that has no librabbitmq.
#include "transport/amqp/amqp_address.hpp"
#include "transport/amqp/kind.hpp"

namespace posthorn {
namespace {

constexpr std::string_view left_out =
    "this program was built without librabbitmq, which amqp:// needs; install librabbitmq-dev and "
    "build it with -DPOSTHORN_AMQP=ON";

}  // namespace

transport_kind amqp_kind() {
    auto kind = amqp_words();
    kind.left_out = left_out;
    kind.connect = [](const transport_request&) -> result<std::unique_ptr<transport>> {
        return fail(error_code::invalid_configuration, "{}", left_out);
    };
    return kind;
}

broker_kind amqp_broker() {
    auto kind = amqp_broker_words();
    kind.left_out = left_out;
    kind.consume = [](consume_request) -> result<std::unique_ptr<broker_consumer>> {
        return fail(error_code::invalid_configuration, "{}", left_out);
    };
    return kind;
}

}  // namespace posthorn
