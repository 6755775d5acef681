// expect: posthorn: this type is described outside of its namespace, where nothing finds it; move
// the macro there
#include <string>

#include <posthorn/posthorn.hpp>

namespace staff {
struct hire {
    std::string who;
};
}  // namespace staff
POSTHORN_COMMAND(staff::hire, "Hire", int, who)
