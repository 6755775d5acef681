// expect: posthorn: a message needs a name; this one's is empty
#include <string>

#include <posthorn/posthorn.hpp>

struct hire {
    std::string who;
};
POSTHORN_SIGNAL(hire, "", who)
void use(posthorn::node& node) { node.send("emp", hire{"ann"}); }
