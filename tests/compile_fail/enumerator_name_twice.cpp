// expect: posthorn: two enumerators of this enumeration have the same name; rename one
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

enum class colour { red, crimson };
POSTHORN_ENUM(colour, red, (crimson, "red"))
struct paint {
    std::vector<colour> coats;
};
POSTHORN_SIGNAL(paint, "Paint", coats)
void use(posthorn::node& node) { node.send("shop", paint{}); }
