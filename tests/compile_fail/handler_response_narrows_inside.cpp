// expect: posthorn: the handler does not answer with the response of its message; return what
// POSTHORN_COMMAND names, and nothing from a signal or push call
#include <optional>
#include <string>

#include <posthorn/posthorn.hpp>

struct count {
    std::string what;
};
POSTHORN_COMMAND(count, "Count", std::optional<int>, what)
void use(posthorn::node& node) {
    node.handle_external<count>([](const count&) { return std::optional<double>(1e30); });
}
