// expect: posthorn: a field of this struct is not in its description, so it would get lost; add it,
// or list no field at all

#include <string>

#include <posthorn/posthorn.hpp>

struct order {
    std::string id;
    int quantity;
};
POSTHORN_SIGNAL(order, "Order", id)

void use(posthorn::node& node) { node.send("shop", order{"o1", 1}); }
