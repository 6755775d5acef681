// expect: posthorn: the object that is to handle this service lacks a message of it; give it a
// handle(posthorn::context&, const T&) for each
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct hire {
    std::string who;
};
POSTHORN_SIGNAL(hire, "Hire", who)
struct personnel {};
using emp = posthorn::service<"emp", 1, hire>;
void use(posthorn::node& node, personnel& by) { posthorn::offer<emp> offered(node, by); }
