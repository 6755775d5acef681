#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace posthorn::measure {

/// 256 bytes of JSON that tell the message's number, by which the receiver finds its times.
[[nodiscard]] std::string make_payload(std::uint64_t index);
[[nodiscard]] std::uint64_t index_of(std::string_view payload) noexcept;

}  // namespace posthorn::measure
