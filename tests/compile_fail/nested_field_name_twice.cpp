// expect: posthorn: two fields of this struct have the same name; rename one
#include <map>
#include <string>

#include <posthorn/posthorn.hpp>

struct part {
    int part_no;
    int partNo;
};
POSTHORN_STRUCT(part, part_no, partNo)
struct order {
    std::map<std::string, part> parts;
};
POSTHORN_SIGNAL(order, "Order", parts)
void use(posthorn::node& node) { node.send("shop", order{}); }
