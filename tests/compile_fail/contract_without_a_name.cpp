// expect: posthorn: a message needs a name; this one's is empty

#include <string>

#include <posthorn/posthorn.hpp>

struct order {
    using contract = posthorn::as_signal<"">;
    std::string id;
};

void use(posthorn::node& node) { node.send("shop", order{"o1"}); }
