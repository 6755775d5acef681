// A shop that tells a subscriber of paid orders: example_11_webhook_shop shop.toml URL, with the
// subscriber's secret in WEBHOOK_SECRET. receiver.py is what listens at the URL.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <posthorn/posthorn.hpp>

static int run(const std::string& file, const std::string& url, const std::string& secret) {
    posthorn::node node{posthorn::load(file)};
    node.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, cents INTEGER)");
    });
    // [shop]
    node.webhook_subscribers({{.url = url, .secret = secret, .event_type = "order.*"}});
    node.start();
    // Of the user who signed in; shop.toml says which of them are tenant and user.
    const std::vector<posthorn::claim> claims{{"tid", "acme"}, {"sub", "ann"}};
    for (int order = 1; order <= 3; ++order)
        node.transact([&](posthorn::transaction& tx) {
            tx.execute("INSERT INTO orders (cents) VALUES (?)", 1210 * order);
            tx.publish("order.paid", "{\"cents\":" + std::to_string(1210 * order) + "}",
                       node.on_behalf_of(claims, {.entity = "orders"}));
        });
    // [/shop]
    std::puts("3 orders paid; Ctrl-C ends");
    std::fflush(stdout);
    node.wait();
    return EXIT_SUCCESS;
}

int main(int count, char** words) {
    const char* const secret = std::getenv("WEBHOOK_SECRET");
    if (count != 3 || secret == nullptr) {
        std::fputs("usage: WEBHOOK_SECRET=whsec_... example_11_webhook_shop shop.toml URL\n",
                   stderr);
        return EXIT_FAILURE;
    }
    try {
        return run(words[1], words[2], secret);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return EXIT_FAILURE;
    }
}
