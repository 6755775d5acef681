// expect: posthorn: this type is not a message; describe it with POSTHORN_SIGNAL, POSTHORN_COMMAND
// or POSTHORN_PUSH_CALL, in its own namespace
#include <string>

#include <posthorn/proxy.hpp>

struct hire {
    std::string who;
};
using emp = posthorn::service<"emp", 1, hire>;
void use(posthorn::node& node) {
    posthorn::proxy<emp> employees(node);
    employees.send(hire{"ann"});
}
