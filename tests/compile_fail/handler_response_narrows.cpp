// expect: posthorn: the handler does not answer with the response of its message; return what
// POSTHORN_COMMAND names, and nothing from a signal or push call
#include <string>

#include <posthorn/posthorn.hpp>

struct count {
    std::string what;
};
POSTHORN_COMMAND(count, "Count", int, what)
void use(posthorn::node& node) {
    node.handle<count>([](posthorn::context&, const count&) { return 1e30; });
}
