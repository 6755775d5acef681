#pragma once

#include <cstddef>
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

/// How long the frame is that holds them: the protocol has no second one for what does not fit.
[[nodiscard]] std::size_t header_frame_bytes(const broker_message& of);

/// The other way, without a body; what is neither text nor a number is left out.
[[nodiscard]] broker_message read_amqp_properties(const amqp_basic_properties_t& with);
/// How often a message was given out, as far as its queue counts.
[[nodiscard]] std::uint32_t deliveries_of(const broker_message& one, bool again);

}  // namespace posthorn
