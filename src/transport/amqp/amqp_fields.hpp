#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <amqp.h>
#include <amqp_framing.h>

#include "transport/broker/broker_message.hpp"

namespace posthorn {

[[nodiscard]] inline amqp_bytes_t bytes_of_text(std::string_view text) {
    return {.len = text.size(), .bytes = const_cast<char*>(text.data())};
}
[[nodiscard]] inline std::string text_of(const amqp_bytes_t& bytes) {
    return bytes.len == 0 ? std::string()
                          : std::string(static_cast<const char*>(bytes.bytes), bytes.len);
}

/// A message's properties, as librabbitmq has them. They refer to the message.
class amqp_properties {
public:
    explicit amqp_properties(const broker_message& of);
    amqp_properties(const amqp_properties&) = delete;
    amqp_properties& operator=(const amqp_properties&) = delete;

    [[nodiscard]] const amqp_basic_properties_t* get() const noexcept { return &made_; }

private:
    amqp_basic_properties_t made_{};
    std::vector<amqp_table_entry_t> headers_;
};

/// The other way; what is neither text nor a number is left out.
[[nodiscard]] broker_message read_amqp_message(const amqp_message_t& from);
/// How often a message was given out, as far as its queue counts.
[[nodiscard]] std::uint32_t deliveries_of(const broker_message& one, bool again);

}  // namespace posthorn
