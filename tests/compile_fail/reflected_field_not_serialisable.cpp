// expect: posthorn: this field cannot be serialised; make its type a plain aggregate, describe it
// with POSTHORN_STRUCT or POSTHORN_ENUM, or use text, numbers, bool, optional, vector, map, variant
// (of types with different names), chrono, posthorn::uuid or posthorn::raw_json

#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct line {
    std::string sku;
    char grade;
};
struct order {
    using contract = posthorn::as_signal<"Order">;
    std::string id;
    std::vector<line> lines;
};

void use(posthorn::node& node) {
    node.send("shop", order{});
    node.handle<order>([](posthorn::context&, const order&) {});
}
