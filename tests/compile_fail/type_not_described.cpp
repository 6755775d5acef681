// expect: posthorn: this type is not a message; give it a contract = posthorn::as_signal<"Name">,
// or describe it with POSTHORN_SIGNAL, POSTHORN_COMMAND or POSTHORN_PUSH_CALL, in its own namespace
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct order {
    std::string id;
};
void use(posthorn::node& node) { node.send("inventory", order{"o1"}); }
