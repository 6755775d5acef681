// expect: posthorn: this field cannot be serialised; make its type a plain aggregate, describe it
// with POSTHORN_STRUCT or POSTHORN_ENUM, or use text, numbers, bool, optional, vector, map, variant
// (of types with different names), chrono, posthorn::uuid or posthorn::raw_json
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct part {
    std::string name;
    char letter;
};
POSTHORN_STRUCT(part, name, letter)
struct order {
    part first;
};
POSTHORN_SIGNAL(order, "Order", first)
