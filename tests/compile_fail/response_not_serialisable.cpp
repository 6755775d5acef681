// expect: posthorn: the response of this Command cannot be serialised; make it a plain aggregate,
// describe it with POSTHORN_STRUCT or POSTHORN_ENUM, or use text, numbers, bool, optional, vector,
// map, variant, chrono, posthorn::uuid or posthorn::raw_json
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

class hired {
    std::string number_;
};
struct hire {
    std::string who;
};
POSTHORN_COMMAND(hire, "Hire", std::vector<hired>, who)
void use(posthorn::node& node) {
    node.handle<hire>([](posthorn::context&, const hire&) { return std::vector<hired>{}; });
    node.call("emp", hire{"ann"}).get();
}
