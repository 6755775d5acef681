#include "app/rounds/drain.hpp"

#include <algorithm>
#include <csignal>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "app/rounds/rounds.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

namespace asio = boost::asio;

/// Lifetime: `run` once, destroy after it returned.
/// Threads:  the node's network executor.
class draining {
public:
    draining(node_runtime& node, const drain_options& options) : node_(node), options_(options) {}

    task<result<drained>> run() {
        using namespace asio::experimental::awaitable_operators;
        POSTHORN_CO_TRY(co_await node_.start());
        co_await (work() || time_over() || signal());
        const bool had_outbox = is_at_work(node_.core());
        co_await cancellable(node_.stop());
        POSTHORN_CO_TRY(failure_);
        if (!had_outbox) co_return std::unexpected(not_at_work(node_.settings()));
        POSTHORN_CO_TRY(look_for_more());
        co_return done_;
    }

private:
    task<> work() {
        std::size_t rows = 0;
        do {
            const auto took = co_await take_round(node_.core());
            if (!took && took.error().code() != error_code::cancelled)
                failure_ = std::unexpected(took.error());
            rows = took.value_or(0);
            done_.processed += rows;
        } while (!options_.once && failure_ && (rows > 0 || co_await others_go_on()));
    }

    /// Waits for a moment, if there is work left that this node did not get: another has it in hand,
    /// and leaves it if it dies.
    task<bool> others_go_on() {
        constexpr std::chrono::milliseconds moment{100};
        done_.is_more = false;
        for (auto* const database : node_.core().databases()) {
            failure_ = co_await read(database->store(), node_.readers(),
                                     [&](store_reader& from) { return look_for_more(from); });
            if (!failure_) co_return false;
        }
        if (!done_.is_more) co_return false;
        co_return co_await node_.sleeper().sleep_for(moment);
    }

    task<> time_over() {
        // One that runs beside us does not end for that.
        constexpr std::chrono::milliseconds patience{2000};
        const auto first = std::min(options_.limit, patience);
        if (!co_await node_.sleeper().sleep_for(first) || !is_at_work(node_.core())) co_return;
        co_await node_.sleeper().sleep_for(options_.limit - first);
    }

    task<> signal() {
        asio::signal_set signals(node_.network(), SIGINT, SIGTERM);
        std::ignore = co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
    }

    result<> look_for_more() {
        done_.is_more = false;
        for (auto* const database : node_.core().databases())
            POSTHORN_TRY(
                database->store().read([&](store_reader& from) { return look_for_more(from); }));
        return {};
    }

    /// What waits for a destination that is paused is not work.
    result<> look_for_more(store_reader& from) {
        POSTHORN_LET(due, from.outbox().due_destinations(real_clock{}.wall()));
        POSTHORN_LET(paused, from.outbox().paused());
        done_.is_more |= !std::ranges::all_of(due, [&](const std::string& one) {
            return std::ranges::find(paused, one, &paused_destination::destination) != paused.end();
        });
        return {};
    }

    node_runtime& node_;
    const drain_options& options_;
    drained done_;
    result<> failure_;
};

}  // namespace

result<drained> drain(config settings, const drain_options& options) {
    POSTHORN_LET(node, open_for_rounds(std::move(settings), options.batch));
    draining around(*node, options);
    auto outcome = start(node->network(), around.run()).get();
    node->stop_and_wait();
    return outcome;
}

}  // namespace posthorn
