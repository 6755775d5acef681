#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "transport/http/types.hpp"

namespace posthorn {

/// Which handler answers which method on which path.
///
/// Lifetime: filled before it serves; what its handlers use outlives it.
/// Threads:  any, once filled.
class router {
public:
    struct not_found {};
    struct wrong_method {
        std::string allow;  // For the `Allow` header.
    };
    using match = std::variant<const http_handler*, not_found, wrong_method>;

    /// A GET route answers HEAD too. A pair of method and path is added once.
    void add(std::string method, std::string path, http_handler handler);
    [[nodiscard]] match find(std::string_view method, std::string_view path) const;

    /// Answers through the route found, or with 404 or 405. The router outlives the run.
    task<http_response> handle(http_request request) const;

private:
    struct route {
        std::string method;
        std::string path;
        http_handler handler;
    };

    std::vector<route> routes_;
};

}  // namespace posthorn
