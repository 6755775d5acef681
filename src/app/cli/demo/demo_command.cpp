#include <csignal>
#include <iostream>
#include <ostream>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <unistd.h>

#include "app/cli/demo/demo_world.hpp"
#include "app/cli/kit/command.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "base/random.hpp"
#include "base/text/counted.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using service = demo_world::service;

struct demo_options {
    int seconds = 20;
    int rate = 50;  // Orders a second.
    bool json = false;
    bool keep = false;
};

constexpr auto tick = 100ms;
constexpr auto down_time = 400ms;  // Between a kill and the start after it.
constexpr auto drain_limit = 30s;

// One line, or one screen that is drawn over itself.
std::string status_text(const demo_counts& now, bool live) {
    const auto on_the_way = now.missing;
    const std::string verdict = now.doubled > 0  ? "NO"
                                : on_the_way > 0 ? fmt::format("yes, {} on {} way", on_the_way,
                                                               on_the_way == 1 ? "its" : "their")
                                                 : "yes";
    if (!live)
        return fmt::format(
            "orders {}, delivered {}, effects {}, duplicates absorbed {}, kills survived {}, each "
            "order exactly once: {}\n",
            now.made, now.delivered, now.effects, now.duplicates, now.kills, verdict);
    std::string text;
    const auto line = [&text](std::string_view name, const std::string& value) {
        text += fmt::format("\r\033[2K  {:<28}{}\n", name, value);
    };
    line("orders made", std::to_string(now.made));
    line("delivered", std::to_string(now.delivered));
    line("effects at the receiver", std::to_string(now.effects));
    line("duplicates absorbed", std::to_string(now.duplicates));
    line("kills survived", std::to_string(now.kills));
    line("each order exactly once", verdict);
    return text;
}

constexpr int status_lines = 6;

/// Runs the show.
///
/// Lifetime: `run` once, on the network thread given.
/// Threads:  that one; it blocks on the databases, which does no harm here.
/// Cancel:   SIGINT and SIGTERM end the show early; a second one ends the wait for what is on its
///           way.
class demo_show {
public:
    demo_show(demo_world& world, const demo_options& options, const console& terminal,
              asio::any_io_executor where)
        : world_(world),
          options_(options),
          terminal_(terminal),
          signals_(where, SIGINT, SIGTERM),
          services_(where),
          is_live_(!options.json && terminal.out.rdbuf() == std::cout.rdbuf() &&
                   ::isatty(STDOUT_FILENO) == 1) {}

    task<result<demo_counts>> run() {
        services_.spawn(watch_signals());
        auto outcome = co_await show();
        signals_.cancel();
        services_.cancel();
        co_await services_.join();
        co_return outcome;
    }

private:
    task<> watch_signals() {
        while (true) {
            const auto [failure, number] =
                co_await signals_.async_wait(asio::as_tuple(asio::use_awaitable));
            if (failure) co_return;
            ++interrupts_;
        }
    }

    task<result<demo_counts>> show() {
        POSTHORN_CO_TRY(world_.start(service::stock));
        POSTHORN_CO_TRY(world_.start(service::orders));
        begun_ = clock_.steady();
        next_change_ = begun_ + 2s;
        while (interrupts_ == 0 &&
               clock_.steady() - begun_ < std::chrono::seconds(options_.seconds))
            POSTHORN_CO_TRY(co_await step(true));
        // A service that is down comes back, so that what is on its way can arrive.
        const auto ended = clock_.steady();
        while (interrupts_ < 2 && clock_.steady() - ended < drain_limit && !is_settled_)
            POSTHORN_CO_TRY(co_await step(false));
        world_.stop();
        const auto stopped = clock_.steady();
        while (!world_.has_stopped() && clock_.steady() - stopped < 15s)
            POSTHORN_CO_TRY(co_await time_.sleep_for(tick));
        co_return world_.count();
    }

    task<result<>> step(bool is_busy) {
        POSTHORN_CO_TRY(world_.check_alive());
        if (is_busy) {
            POSTHORN_CO_TRY(place_orders());
            // A little later they are on their way, at a different place each time.
            if (clock_.steady() >= next_change_)
                POSTHORN_CO_TRY(
                    co_await time_.sleep_for(std::chrono::microseconds(random_.below(12'000))));
        }
        POSTHORN_CO_TRY(change_services(is_busy));
        POSTHORN_CO_LET(counts, world_.count());
        is_settled_ = counts.missing == 0 && counts.delivered >= counts.made;
        print(counts);
        co_return co_await time_.sleep_for(tick);
    }

    // The services take turns in being killed; each is started again a moment later.
    result<> change_services(bool is_busy) {
        const auto now = clock_.steady();
        if (!world_.is_running(victim_) && (now >= next_change_ || !is_busy)) {
            POSTHORN_TRY(world_.start(victim_));
            victim_ = victim_ == service::stock ? service::orders : service::stock;
            next_change_ = now + 2s;
        } else if (is_busy && now >= next_change_) {
            world_.kill(victim_);
            next_change_ = now + down_time;
        }
        return {};
    }

    result<> place_orders() {
        const auto age = std::chrono::duration<double>(clock_.steady() - begun_).count();
        const auto due = static_cast<std::int64_t>(age * options_.rate);
        for (; placed_ < due; ++placed_) POSTHORN_TRY(world_.place_order());
        return {};
    }

    void print(const demo_counts& counts) {
        if (options_.json) return;
        const auto now = clock_.steady();
        if (!is_live_ && printed_ && now - *printed_ < 1s) return;
        if (is_live_ && printed_) terminal_.out << fmt::format("\033[{}A", status_lines);
        terminal_.out << status_text(counts, is_live_) << std::flush;
        printed_ = now;
    }

    demo_world& world_;
    const demo_options& options_;
    const console& terminal_;
    asio::signal_set signals_;
    task_group services_;
    real_clock clock_;
    real_timer time_;
    system_random random_;
    bool is_live_;
    int interrupts_ = 0;
    bool is_settled_ = false;
    service victim_ = service::stock;
    std::int64_t placed_ = 0;
    steady_time begun_{};
    steady_time next_change_{};
    std::optional<steady_time> printed_{};
};

class demo_command final : public command {
public:
    void declare(CLI::App& options) override {
        options.add_option("--seconds", asked_.seconds, "how long orders are made")
            ->capture_default_str()
            ->check(CLI::Range(1, 3600))
            ->type_name("NUMBER");
        options.add_option("--rate", asked_.rate, "orders a second")
            ->capture_default_str()
            ->check(CLI::Range(1, 1000))
            ->type_name("NUMBER");
        options.add_flag("--keep", asked_.keep, "keep the databases, and say where they are");
        add_json_flag(options, asked_.json);
        options.footer(
            "Example: posthorn demo --seconds 60\n"
            "Two services exchange orders while one after the other is killed and restarted. "
            "Exits with 1 if an order is missing or took effect twice.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(world, demo_world::make());
        if (!asked_.json)
            terminal.out << "orders sends to stock; both run as 'posthorn serve', and are killed "
                            "(SIGKILL) in turn. Ctrl-C ends it.\n"
                         << std::flush;
        io_threads network("posthorn-demo");
        demo_show show(*world, asked_, terminal, network.executor());
        const auto counts = start(network.executor(), show.run()).get();
        const auto verdict = counts ? judge(*counts) : result<>(std::unexpected(counts.error()));
        if (counts) print(*counts, verdict.has_value(), terminal);
        if (verdict && !asked_.keep)
            world->remove();
        else if (!asked_.json)
            terminal.out << "kept: " << world->folder().string() << '\n';
        return verdict;
    }

private:
    static result<> judge(const demo_counts& counts) {
        if (counts.doubled > 0)
            return fail(error_code::duplicate_id, "{} took effect more than once",
                        counted(counts.doubled, "order"));
        if (counts.missing > 0)
            return fail(error_code::timed_out, "{} not taken effect",
                        counted(counts.missing, "order has", "orders have"));
        return {};
    }

    void print(const demo_counts& counts, bool good, const console& terminal) const {
        if (asked_.json)
            print_json(terminal, boost::json::object{{"orders", counts.made},
                                                     {"delivered", counts.delivered},
                                                     {"effects", counts.effects},
                                                     {"missing", counts.missing},
                                                     {"doubled", counts.doubled},
                                                     {"duplicatesAbsorbed", counts.duplicates},
                                                     {"killsSurvived", counts.kills},
                                                     {"exactlyOnce", good}});
        else
            terminal.out << fmt::format(
                "final check of both databases: {} orders, {} effects, {} missing, {} doubled, {} "
                "kills survived\neach order exactly once: {}\n",
                counts.made, counts.effects, counts.missing, counts.doubled, counts.kills,
                good ? "yes" : "NO");
    }

    demo_options asked_;
};

}  // namespace

std::unique_ptr<command> make_demo_command() { return std::make_unique<demo_command>(); }

}  // namespace posthorn::cli
