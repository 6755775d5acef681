#include <array>

#include <posthorn/error.hpp>

#include "base/assert.hpp"

namespace posthorn {
namespace {

using enum error_code;

constexpr std::array catalogue{
    error_info{cancelled, "cancelled", "the operation was cancelled before it finished"},
    error_info{timed_out, "timed_out", "the operation did not finish in its time", true},
    error_info{closed, "closed", "the other end is closed and takes or gives nothing more"},
    error_info{overloaded, "overloaded", "a bounded queue is full", true},
    error_info{invalid_argument, "invalid_argument", "a value given to a call is not usable"},
    error_info{invalid_configuration, "invalid_configuration", "the configuration is not usable"},
    error_info{address_unavailable, "address_unavailable", "an address cannot be listened on"},
    error_info{io_failed, "io_failed", "the operating system refused an operation", true},
};

consteval bool in_order() {
    for (std::size_t i = 0; i < catalogue.size(); ++i)
        if (static_cast<std::size_t>(catalogue[i].code) != i) return false;
    return true;
}
static_assert(in_order(), "describe() finds an entry by the value of its code");

}  // namespace

std::span<const error_info> error_catalogue() noexcept { return catalogue; }

const error_info& describe(error_code code) noexcept {
    const auto index = static_cast<std::size_t>(code);
    POSTHORN_ASSERT(index < catalogue.size());
    return catalogue[index];
}

}  // namespace posthorn
