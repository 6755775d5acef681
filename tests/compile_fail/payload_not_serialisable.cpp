// expect: posthorn: this field cannot be serialised; make its type a plain aggregate, describe it
// with POSTHORN_STRUCT or POSTHORN_ENUM, or use text, numbers, bool, optional, vector, map, variant
// (of types with different names), chrono, posthorn::uuid or posthorn::raw_json
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct order {
    std::string id;
    void* next;
};
POSTHORN_SIGNAL(order, "Order", id, next)
