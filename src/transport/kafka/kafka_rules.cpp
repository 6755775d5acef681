#include "transport/kafka/kafka_rules.hpp"

#include <fmt/format.h>

#include <posthorn/error.hpp>

#include "base/assert.hpp"
#include "base/text/utf8.hpp"
#include "transport/broker/broker_answers.hpp"

namespace posthorn {

bool may_mean_another(kafka_word word) noexcept {
    return word == kafka_word::too_large || word == kafka_word::refused;
}

delivery judge_kafka(kafka_word word, std::string_view said, std::string_view topic) {
    const auto why = fmt::format("Kafka answers '{}' for the topic '{}'", clean_utf8(said, 300),
                                 clean_utf8(topic, 300));
    switch (word) {
        case kafka_word::persisted: return broker_has_it();
        case kafka_word::no_topic:
            return broker_has_no_place(
                fmt::format("{}; make the topic, or give the right to write to it", why));
        case kafka_word::too_large: return broker_never_takes(error_code::message_too_large, why);
        case kafka_word::refused: return broker_never_takes(error_code::invalid_argument, why);
        case kafka_word::no_room: return broker_is_full(why);
        case kafka_word::not_answered: return broker_is_silent(why);
    }
    POSTHORN_ASSERT(false);
    return {};
}

}  // namespace posthorn
