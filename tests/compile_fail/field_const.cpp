// expect: posthorn: this field is const, so that it cannot be read from a message; drop the const
#include <string>

#include <posthorn/posthorn.hpp>

struct order {
    std::string id;
    const int quantity;
};
POSTHORN_SIGNAL(order, "Order", id, quantity)
void use(posthorn::node& node) {
    node.send("shop", order{"o1", 1});
    node.handle<order>([](posthorn::context&, const order&) {});
}
