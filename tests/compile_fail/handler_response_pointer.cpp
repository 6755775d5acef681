// expect: posthorn: the handler does not answer with the response of its message; return what
// POSTHORN_COMMAND names, and nothing from a signal or push call
#include <string>

#include <posthorn/posthorn.hpp>

struct ask {
    std::string what;
};
POSTHORN_COMMAND(ask, "Ask", bool, what)
struct desk {
    const char* handle(posthorn::context&, const ask&) { return "no"; }
};
using office = posthorn::service<"office", 1, ask>;
void use(posthorn::node& node, desk& by) { posthorn::offer<office> offered(node, by); }
