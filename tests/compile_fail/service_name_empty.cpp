// expect: posthorn: a service needs a name; this one's is empty
#include <string>

#include <posthorn/posthorn.hpp>

struct hire {
    std::string who;
};
POSTHORN_SIGNAL(hire, "Hire", who)
using emp = posthorn::service<"", 1, hire>;
void use(posthorn::node& node) {
    posthorn::proxy<emp> employees(node);
    employees.send(hire{"ann"});
}
