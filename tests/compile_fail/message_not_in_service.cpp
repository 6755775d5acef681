// expect: posthorn: this service does not have that message; add it to the service<…>, or send it
// to another one
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct hire {
    std::string who;
};
POSTHORN_SIGNAL(hire, "Hire", who)
struct bill {
    std::string who;
};
POSTHORN_SIGNAL(bill, "Bill", who)
using emp = posthorn::service<"emp", 1, hire>;
void use(posthorn::node& node) {
    posthorn::proxy<emp> employees(node);
    employees.send(bill{"ann"});
}
