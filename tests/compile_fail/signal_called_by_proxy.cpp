// expect: posthorn: only a Command is answered; describe it with POSTHORN_COMMAND, or use send
#include <string>

#include <posthorn/posthorn.hpp>

struct hired {
    std::string who;
};
POSTHORN_SIGNAL(hired, "Hired", who)
using emp = posthorn::service<"emp", 1, hired>;
void use(posthorn::node& node) {
    posthorn::proxy<emp> employees(node);
    auto waiting = employees.call(hired{"ann"});
    const std::string answer = waiting.get(std::chrono::seconds(1));
    static_cast<void>(answer);
}
