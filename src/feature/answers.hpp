#pragma once

#include <posthorn/error.hpp>

#include "transport/http/types.hpp"

namespace posthorn {

/// An error as the admin listener answers it.
[[nodiscard]] inline http_response answer_to_error(const error& why) {
    const auto status = [&]() -> std::uint16_t {
        switch (why.code()) {
            case error_code::invalid_argument:
            case error_code::invalid_payload:
            case error_code::malformed_request: return 400;
            case error_code::access_denied: return 403;
            case error_code::not_found: return 404;
            case error_code::message_expired:
            case error_code::state_changed: return 409;
            case error_code::message_too_large: return 413;
            default: return 503;  // The store could not do it.
        }
    }();
    return error_response(status, why.name(), why.what());
}

}  // namespace posthorn
