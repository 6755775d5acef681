// expect: posthorn: this type cannot be made without arguments, so that it cannot be read from a
// message; give it a default constructor
#include <string>

#include <posthorn/posthorn.hpp>

struct part {
    explicit part(std::string named) : id(std::move(named)) {}
    std::string id;
};
POSTHORN_STRUCT(part, id)
struct order {
    part first;
};
POSTHORN_SIGNAL(order, "Order", first)
void use(posthorn::node& node) {
    node.send("shop", order{part("p1")});
    node.handle<order>([](posthorn::context&, const order&) {});
}
