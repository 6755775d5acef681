// expect: posthorn: only a Command is answered; describe it with POSTHORN_COMMAND, or use send
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct hired {
    std::string who;
};
POSTHORN_SIGNAL(hired, "Hired", who)
void use(posthorn::node& node) { node.call("emp", hired{"ann"}).get(); }
