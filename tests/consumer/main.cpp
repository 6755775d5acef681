#include <cstdio>
#include <filesystem>
#include <string>

#include <stdlib.h>

#include <posthorn/posthorn.hpp>

struct reversed {
    std::string text;
};
POSTHORN_STRUCT(reversed, text)
struct reverse {
    std::string text;
};
POSTHORN_COMMAND(reverse, "Reverse", reversed, text)
using mirror = posthorn::service<"mirror", 1, reverse>;

// Uses what lies behind the headers too, so that a package without its library does not link.
int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "consumer_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    int status = 1;
    {
        posthorn::node here({.service = "here",
                             .store = {.database = folder + "/here.db"},
                             .routes = {{"mirror", "inprocess:"}}});
        posthorn::node there({.service = "mirror",
                              .store = {.database = folder + "/mirror.db"},
                              .routes = {{"here", "inprocess:"}}});
        posthorn::offer<mirror>(there).handle<reverse>(
            [](posthorn::context&, const reverse& m) -> reversed {
                return {{m.text.rbegin(), m.text.rend()}};
            });
        posthorn::proxy<mirror> ask(here);
        there.start();
        here.start();
        const auto answer = ask.call(reverse{"nrohtsop"}).get(std::chrono::seconds{60});
        std::printf("%s\n", answer.text.c_str());
        status = answer.text == "posthorn" ? 0 : 1;
    }
    std::filesystem::remove_all(folder);
    return status;
}
