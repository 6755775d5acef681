// expect: posthorn: the handler does not take the response of this Command; it must be callable
// with (posthorn::context&, const R&), where R is what POSTHORN_COMMAND names
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct hire {
    std::string who;
};
POSTHORN_COMMAND(hire, "Hire", std::string, who)
void use(posthorn::node& node) {
    node.handle_response<hire>([](posthorn::context&, const std::vector<int>&) {});
}
