// A service on PostgreSQL whose own threads send: a business row and a message in each transaction.
// bench_postgres_senders CONFIG SENDERS MESSAGES; begins with a line on its input, prints one when
// all are committed, and goes on delivering until its input ends.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <posthorn/posthorn.hpp>

namespace {

void send_all(posthorn::node& orders, int senders, int messages) {
    const std::string payload = R"({"order":")" + std::string(244, 'x') + R"("})";
    std::atomic<int> left = messages;
    std::vector<std::jthread> threads;
    for (int i = 0; i < senders; ++i)
        threads.emplace_back([&] {
            while (left.fetch_sub(1) > 0)
                orders.transact([&](posthorn::transaction& tx) {
                    tx.execute("INSERT INTO orders (body) VALUES (?)", payload);
                    tx.send("billing", "Charge", payload);
                });
        });
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: bench_postgres_senders CONFIG SENDERS MESSAGES\n");
        return 2;
    }
    try {
        posthorn::node orders{posthorn::load(arguments[1])};
        orders.start();
        std::puts("ready");
        std::fflush(stdout);
        std::string line;
        if (std::getline(std::cin, line)) {
            send_all(orders, std::atoi(arguments[2]), std::atoi(arguments[3]));
            std::puts("sent");
            std::fflush(stdout);
        }
        while (std::getline(std::cin, line)) {
        }
        orders.stop();
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    return 0;
}
