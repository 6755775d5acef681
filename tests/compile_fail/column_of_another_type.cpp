// expect: posthorn: a column is read as a number, bool, enumeration, std::string,
// std::vector<std::byte> or std::optional of one of these

#include <string>

#include <posthorn/posthorn.hpp>

struct money {
    int cents;
};

auto read(posthorn::transaction& tx) { return tx.query<money>("SELECT price FROM items"); }
