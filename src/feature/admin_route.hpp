#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>

#include "base/async/task.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// What a key's holder may do. An operator may do what the others may.
enum class admin_role : std::uint8_t {
    viewer,  // Look, but not into payloads.
    worker,  // Take messages from queues and acknowledge them.
    // The word is a keyword. NOLINTNEXTLINE(readability-identifier-naming)
    operator_,  // Change things.
};

[[nodiscard]] std::string_view to_string(admin_role role) noexcept;
[[nodiscard]] std::optional<admin_role> parse_admin_role(std::string_view text) noexcept;

/// How a caller was let in.
enum class admin_way : std::uint8_t {
    loopback,  // From this machine, where no key is configured.
    key,       // A key in the header `Authorization`.
    session,   // The cookie of a browser that has signed in with a key.
    proxy,     // A trusted proxy names the person.
    file,      // Not over the listener: the owner of the database asks.
};

[[nodiscard]] std::string_view to_string(admin_way way) noexcept;

/// What is given to a key beside its role.
struct admin_rights {
    bool payloads = false;  // To read what messages say.
    bool secrets = false;   // To be shown secrets that the node makes.

    bool operator==(const admin_rights&) const = default;
};

/// Who asks, once let in.
struct admin_caller {
    std::string name;  // `loopback` without a key.
    admin_role role = admin_role::viewer;
    admin_rights rights{};
    admin_way by = admin_way::loopback;
    std::string csrf{};                // What a change must bring, if it comes from a browser.
    std::optional<wall_time> until{};  // When the session ends.
};

/// Answers a request of a caller who was let in.
using admin_handler = std::function<task<http_response>(http_request, admin_caller)>;

/// A shape that others can name.
struct named_shape {
    std::string_view name;  // Begins with a capital letter.
    std::string_view shape;
};

/// What a route says of itself, for those who write a program that asks it: OpenAPI is made of it.
/// The texts are constants; what a shape is, `feature/shape.hpp` says.
struct route_doc {
    std::string_view summary;               // A sentence.
    std::string_view answer;                // The shape of a good answer.
    std::string_view query{};               // Of an object, whose fields are the parameters.
    std::string_view body{};                // Of a JSON body; none if empty.
    std::string_view headers{};             // As the query.
    std::span<const named_shape> shapes{};  // Those that are named in the above.
    std::string_view media = "application/json";
    std::uint16_t also = 0;  // Another status that has the same answer.
};

/// One route of the admin listener.
struct admin_route {
    std::string method;
    std::string path;                 // Such as `/_rf/queue/{endpoint}/take`.
    std::optional<admin_role> needs;  // Any role, if it is none.
    route_doc doc;
    admin_handler answer;
};

}  // namespace posthorn
