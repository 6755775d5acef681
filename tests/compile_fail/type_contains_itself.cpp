// expect: posthorn: this type contains itself, so its messages could be endless; refer to the inner
// one by its id, or make that field a posthorn::raw_json
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

struct tree {
    std::string name;
    std::vector<tree> children;
};
POSTHORN_SIGNAL(tree, "Tree", name, children)
