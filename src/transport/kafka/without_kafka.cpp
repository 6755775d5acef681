// What stands for Kafka in a build that has no librdkafka.
#include "transport/kafka/kafka_address.hpp"
#include "transport/kafka/kind.hpp"

namespace posthorn {
namespace {

constexpr std::string_view left_out =
    "this program was built without librdkafka, which kafka:// needs; install librdkafka-dev and "
    "build it with -DPOSTHORN_KAFKA=ON";

}  // namespace

transport_kind kafka_kind() {
    auto kind = kafka_words();
    kind.left_out = left_out;
    kind.connect = [](const transport_request&) -> result<std::unique_ptr<transport>> {
        return fail(error_code::invalid_configuration, "{}", left_out);
    };
    return kind;
}

}  // namespace posthorn
