// expect: posthorn: two messages of this service have the same name; rename one, or move it to
// another service
#include <string>

#include <posthorn/posthorn.hpp>

struct hire {
    std::string who;
};
POSTHORN_SIGNAL(hire, "Hire", who)
struct rehire {
    std::string who;
};
POSTHORN_SIGNAL(rehire, "Hire", who)
using emp = posthorn::service<"emp", 1, hire, rehire>;
struct personnel {
    void handle(posthorn::context&, const hire&) {}
    void handle(posthorn::context&, const rehire&) {}
};
void use(posthorn::node& node, personnel& by) {
    posthorn::offer<emp> offered(node, by);
    posthorn::proxy<emp> employees(node);
    employees.send(hire{"ann"});
}
