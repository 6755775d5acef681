// expect: posthorn: this service does not have that message; add it to the service<…>, or send it
// to another one
#include <string>

#include <posthorn/posthorn.hpp>

struct hired {
    std::string number;
};
POSTHORN_STRUCT(hired, number)
struct hire {
    std::string who;
};
POSTHORN_COMMAND(hire, "Hire", hired, who)
struct lend {
    std::string who;
};
POSTHORN_COMMAND(lend, "Lend", hired, who)
using emp = posthorn::service<"emp", 1, hire>;
std::string use(posthorn::node& node) {
    posthorn::proxy<emp> employees(node);
    const auto answer = employees.call(lend{"ann"}).get();
    return answer.number;
}
