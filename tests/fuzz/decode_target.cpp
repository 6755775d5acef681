#include "fuzz/decode_target.hpp"

#include <cstdlib>
#include <string_view>

#include <posthorn/contract.hpp>
#include <posthorn/error.hpp>

#include "support/order_contract.hpp"

namespace posthorn {
namespace {

template <class T>
void decode_as(std::string_view text) {
    try {
        const auto taken = decode<T>(text);
        if (decode<T>(encode(taken)) != taken) std::abort();
    } catch (const error& why) {
        if (why.code() != error_code::invalid_payload) std::abort();
    }
}

}  // namespace

void fuzz_decode(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    decode_as<shop::everything>(text);
    decode_as<shop::order_placed>(text);
    decode_as<std::vector<shop::line>>(text);
    decode_as<std::map<std::string, std::variant<double, std::string, raw_json>>>(text);
    decode_as<std::chrono::nanoseconds>(text);
    decode_as<std::chrono::sys_time<std::chrono::nanoseconds>>(text);
}

}  // namespace posthorn
