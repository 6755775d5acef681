// Prints the contract that its header was made of; with a URL and a folder, hires somebody there
// too.
#include <iostream>
#include <thread>

#include <posthorn_links/hr.hpp>

#include <posthorn/posthorn.hpp>

namespace emp = hr::emp_v3;

int main(int argc, char** argv) {
    std::cout << emp::service::contract() << '\n';
    if (argc != 3) return 0;
    posthorn::node node(
        {.service = "desk",
         .store = {.database = std::string(argv[2]) + "/desk.db"},
         .routes = {{"hr", argv[1]}},
         .listen = {.http = "127.0.0.1:0"},
         .secrets = {{"hr", {"base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}}}});
    posthorn::proxy<emp::service> hr(node, "hr");
    node.start();
    hr.send(emp::moved{.to = "Ann"});
    while (node.stats().pending > 0) std::this_thread::yield();  // Whoever runs it has a limit.
    std::cout << (node.stats().sent == 1 ? "sent" : "not sent") << '\n';
    node.stop();
    return 0;
}
