// expect: posthorn: the handler does not answer with the response of its message; return what
// POSTHORN_COMMAND names, and nothing from a signal or push call
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct hire {
    std::string who;
};
POSTHORN_COMMAND(hire, "Hire", std::string, who)
void use(posthorn::node& node) {
    node.handle<hire>([](posthorn::context&, const hire&) {});
}
