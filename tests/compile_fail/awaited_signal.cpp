// expect: posthorn: only a Command is answered; describe it with POSTHORN_COMMAND, or use send
// only: clang++-19
#include <coroutine>
#include <string>

#include <posthorn/async.hpp>

struct hired {
    std::string who;
};
POSTHORN_SIGNAL(hired, "Hired", who)
struct job {
    struct promise_type {
        job get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
job use(posthorn::node& node) {
    const std::string answer =
        co_await posthorn::async::call(node, "emp", hired{"ann"}).within(std::chrono::seconds(1));
    static_cast<void>(answer);
}
