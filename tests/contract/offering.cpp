// A node that offers a service, for those who import its contracts: prints where it listens, and
// ends with its input.
#include <iostream>
#include <string>

#include <posthorn/posthorn.hpp>

#include "contract/offered.hpp"

namespace {

struct personnel {
    offered::hired handle(posthorn::context& with, const offered::hire& received) const {
        with.execute("INSERT INTO staff(name) VALUES (?)", received.who);
        return {received.who + " is in", received.badge};
    }
    void handle(posthorn::context& with, const offered::moved& received) const {
        with.execute("INSERT INTO staff(name) VALUES (?)", received.to);
    }
    void handle(posthorn::context&, const offered::counted&) const {}
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    posthorn::node node(
        {.service = "hr",
         .store = {.database = std::string(argv[1]) + "/hr.db"},
         .listen = {.http = "127.0.0.1:0"},
         .secrets = {{"desk", {"base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}}}});
    node.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE IF NOT EXISTS staff (name TEXT)");
    });
    personnel office;
    posthorn::offer<offered::emp> offer(node, office);
    node.start();
    std::cout << node.addresses().front() << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
    }
    node.stop();
    return 0;
}
