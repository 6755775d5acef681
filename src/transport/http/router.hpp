#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "transport/http/types.hpp"

namespace posthorn {

/// Which handler answers which method on which path.
///
/// A segment of a route that is `{name}` stands for any one segment that is not empty; the handler
/// finds it, percent-decoded, among the request's `parameters`. Where several routes fit, one that
/// spells the path out goes first.
///
/// Lifetime: filled before it serves; what its handlers use outlives it.
/// Threads:  any, once filled.
class router {
public:
    struct found {
        const http_handler* handler = nullptr;
        decltype(http_request::parameters) parameters{};
    };
    struct not_found {};
    struct wrong_method {
        std::string allow;  // For the `Allow` header.
    };
    using match = std::variant<found, not_found, wrong_method>;

    /// A GET route answers HEAD too. A pair of method and path is added once; parameters of other
    /// names make no other path.
    void add(std::string method, std::string path, http_handler handler);
    [[nodiscard]] match find(std::string_view method, std::string_view path) const;

    /// `GET /metrics` and so on, in the order of their paths.
    [[nodiscard]] std::vector<std::string> known() const;

    /// Answers through the route found, or with 404 or 405. The router outlives the run.
    task<http_response> handle(http_request request) const;

private:
    struct route {
        std::string method;
        std::string path;
        http_handler handler;
    };

    std::vector<route> exact_;
    std::vector<route> patterns_;
};

}  // namespace posthorn
