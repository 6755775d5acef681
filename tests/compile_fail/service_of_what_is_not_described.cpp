// expect: posthorn: this type is not a message; give it a contract = posthorn::as_signal<"Name">,
// or describe it with POSTHORN_SIGNAL, POSTHORN_COMMAND or POSTHORN_PUSH_CALL, in its own namespace
#include <string>

#include <posthorn/posthorn.hpp>

struct hire {
    std::string who;
};
using emp = posthorn::service<"emp", 1, hire>;
void use(posthorn::node& node) {
    posthorn::proxy<emp> employees(node);
    employees.send(hire{"ann"});
}
