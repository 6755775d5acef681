// expect: posthorn: the handler does not take its message; it must be callable with
// (posthorn::context&, const T&), or with (const T&) if it is external
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct hire {
    std::string who;
};
POSTHORN_SIGNAL(hire, "Hire", who)
void use(posthorn::node& node) {
    node.handle<hire>([](posthorn::context&, const std::string&) {});
}
