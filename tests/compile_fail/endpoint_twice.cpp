// expect: posthorn: two messages of this service have the same name; rename one, or move it to
// another service
#include <string>
#include <vector>

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
void use(posthorn::node& node) { posthorn::offer<emp> offered(node); }
