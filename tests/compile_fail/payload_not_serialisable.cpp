// expect: posthorn: this field cannot be serialised; describe its type with POSTHORN_STRUCT or
// POSTHORN_ENUM, or use text, numbers, bool, optional, vector, map, variant (of types with
// different names), chrono, posthorn::uuid or posthorn::raw_json
#include <string>
#include <vector>

#include <posthorn/proxy.hpp>

struct order {
    std::string id;
    void* next;
};
POSTHORN_SIGNAL(order, "Order", id, next)
