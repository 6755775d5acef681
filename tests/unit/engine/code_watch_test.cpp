#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <posthorn/node.hpp>

#include "unit/engine/shop.hpp"

namespace shop {
namespace {

std::atomic<bool> never = false;

workflow<void> spin(flow<>&) {
    while (!never) std::this_thread::yield();
    co_return;
}
POSTHORN_WORKFLOW(spin, "Spin", 1)

workflow<std::string> greet(flow<>&, std::string name) { co_return "hello " + name; }
POSTHORN_WORKFLOW(greet, "Greet", 1)

}  // namespace
}  // namespace shop

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using namespace shop;

class code_watch_test : public engine_test {
protected:
    /// Workflows may run for a moment without waiting.
    [[nodiscard]] configuration impatient() const {
        std::ofstream(directory.file("impatient.toml")) << "[service]\nid = \"impatient\"\n"
                                                           "[workflow]\ncode_limit = \"50ms\"\n";
        auto from = load(directory.file("impatient.toml"));
        const auto wanted = options("impatient");
        from.options.store = wanted.store;
        from.options.listen = wanted.listen;
        from.options.log_sink = wanted.log_sink;
        return from;
    }
    static void add_workflows(node& to) {
        to.add(spin);
        to.add(greet);
    }

    /// In a process of its own, which must end by itself.
    [[noreturn]] void run_in_vain() const {
        node own(impatient());
        add_workflows(own);
        own.start();
        own.transact([](transaction& tx) {
            tx.start(spin, "s");
            tx.start(greet, "g", "ann");
        });
        for (;;) ::pause();
    }
};

TEST_F(code_watch_test, ends_a_process_whose_code_never_waits_and_the_next_goes_on_without_it) {
    const auto child = ::fork();
    if (child == 0) run_in_vain();
    int how = 0;
    ASSERT_EQ(::waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT) << how;

    node next(impatient());
    add_workflows(next);
    next.start();
    EXPECT_EQ(next.wait_for_end(greet, "g", 30s).result, "\"hello ann\"");
    const auto held = next.find(spin, "s");
    ASSERT_TRUE(held);
    EXPECT_EQ(held->status, flow_status::quarantined);
    EXPECT_THAT(held->reason, testing::HasSubstr("without waiting for anything"));
}

}  // namespace
}  // namespace posthorn
