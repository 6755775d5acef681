// Workflows that call a service in another process, over a Unix socket.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workflow_load/shop.hpp"

namespace load {
namespace {

using posthorn::flow;
using posthorn::workflow;

struct add_up {
    using contract = posthorn::as_command<"AddUp", std::int64_t>;
    std::int64_t number = 0;
    std::string text;
};
using till = posthorn::service<"till", 1, add_up>;

/// With what makes a payload as large as those of `posthorn bench`.
workflow<std::int64_t> three_calls(flow<>& f, std::int64_t number) {
    std::int64_t sum = 0;
    for (int step = 1; step <= 3; ++step)
        sum += co_await f.call<till>(add_up{number, std::string(220, 'x')});
    co_return sum;
}
POSTHORN_WORKFLOW(three_calls, "ThreeCalls", 1)

struct counter {
    std::int64_t handle(posthorn::context& c, const add_up& m) {
        c.execute("INSERT INTO added VALUES (?, ?)", m.number, m.text);
        return 1;
    }
};

}  // namespace
}  // namespace load

namespace posthorn::bench {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> secret_key() {
    return {"base64:a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="};
}

/// Ends when the other end of the pipe is closed.
void serve_till(const std::string& folder, int ready, int until) {
    node till({.service = "till",
               .store = {.database = folder + "/till.db"},
               .routes = {{"shop", "unix://" + folder + "/shop.sock"}},
               .listen = {.unix_socket = folder + "/till.sock"},
               .secrets = {{"shop", secret_key()}},
               .log_level = "error"});
    till.transact([](transaction& tx) { tx.execute("CREATE TABLE added (number, text)"); });
    load::counter what;
    offer<load::till> offered(till, what);
    till.start();
    char word = 'r';
    if (::write(ready, &word, 1) != 1) return;
    while (::read(until, &word, 1) > 0) {
    }
    till.stop();
}

/// The service, in a process of its own.
class other_process {
public:
    explicit other_process(const std::string& folder) {
        int ready[2];
        int until[2];
        if (::pipe(ready) != 0 || ::pipe(until) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ < 0) throw std::runtime_error("no process");
        if (child_ == 0) {
            ::close(until[1]);
            serve_till(folder, ready[1], until[0]);
            ::_exit(0);
        }
        ::close(until[0]);
        ::close(ready[1]);
        keeps_ = until[1];
        char word = 0;
        const bool is_ready = ::read(ready[0], &word, 1) == 1;
        ::close(ready[0]);
        if (!is_ready) throw std::runtime_error("the other service did not start");
    }
    ~other_process() {
        ::close(keeps_);
        ::waitpid(child_, nullptr, 0);
    }
    other_process(const other_process&) = delete;
    other_process& operator=(const other_process&) = delete;

private:
    pid_t child_ = 0;
    int keeps_ = -1;
};

}  // namespace

void run_calls(const workflow_settings& with) {
    const scratch place(with.folder);
    const auto folder = std::filesystem::absolute(place.path()).string();
    const other_process till(folder);
    shop one(folder, [](node& on) { on.add(load::three_calls); },
             {.service = "shop",
              .routes = {{"till", "unix://" + folder + "/till.sock"}},
              .listen = {.unix_socket = folder + "/shop.sock"},
              .secrets = {{"till", secret_key()}},
              .log_level = "error"});
    one->start();
    const auto count = static_cast<std::int64_t>(with.count);
    const auto began = measure::now_ns();
    std::int64_t started = 0;
    for (std::int64_t ended = 0; ended < count; rest(2ms)) {
        ended = one.number(count_ended);
        const auto until = std::min(count, ended + static_cast<std::int64_t>(with.at_once));
        if (until <= started) continue;
        one->transact([&](transaction& tx) {
            for (auto number = started; number < until; ++number)
                tx.start(load::three_calls, std::to_string(number), number);
        });
        started = until;
    }
    print_chains(with, static_cast<double>(measure::now_ns() - began) / 1e9);
    database rows(folder + "/till.db", "");
    if (statement(rows.raw(), "SELECT count(*) FROM added").get() != 3 * count)
        throw std::runtime_error("a call took no effect, or took effect twice");
}

}  // namespace posthorn::bench
