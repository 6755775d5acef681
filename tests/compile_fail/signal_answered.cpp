// expect: posthorn: the handler does not answer with the response of its message; return what
// POSTHORN_COMMAND names, and nothing from a signal or push call
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct hired {
    std::string who;
};
POSTHORN_SIGNAL(hired, "Hired", who)
void use(posthorn::node& node) {
    node.handle<hired>([](posthorn::context&, const hired&) { return 1; });
}
