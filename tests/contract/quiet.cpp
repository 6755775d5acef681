// Compiles without a warning, as its users' code is to: descriptions that nothing uses, in a
// namespace without a name.
#include <optional>
#include <string>
#include <variant>

#include <posthorn/posthorn.hpp>

namespace {

enum class colour { red, green };
POSTHORN_ENUM(colour, red, green)

struct part {
    std::string name;
};
POSTHORN_STRUCT(part, name)

struct ping {
    posthorn::uuid id;
    colour paint{};
    std::optional<part> first;
};
POSTHORN_SIGNAL(ping, "Ping", id, paint, first)
POSTHORN_ID(ping, id)

struct ask {
    std::variant<part, colour> what;
};
POSTHORN_COMMAND(ask, "Ask", part, what)

struct empty {};
POSTHORN_PUSH_CALL(empty, "Empty")

using desk = posthorn::service<"desk", 1, ping, ask, empty>;

}  // namespace
