// expect: posthorn: this type is not a message; describe it with POSTHORN_SIGNAL, POSTHORN_COMMAND
// or POSTHORN_PUSH_CALL, in its own namespace
#include <string>
#include <vector>

#include <posthorn/proxy.hpp>

struct order {
    std::string id;
};
void use(posthorn::node& node) { node.send("inventory", order{"o1"}); }
