// expect: posthorn: two fields of this struct have the same name; rename one
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct order {
    std::string id;
    std::string other;
};
POSTHORN_SIGNAL(order, "Order", id, (other, "id"))
