#include "app/rounds/function.hpp"

#include <csignal>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "app/rounds/rounds.hpp"
#include "base/text/counted.hpp"
#include "transport/http/server.hpp"

namespace posthorn {
namespace {

namespace asio = boost::asio;

/// As the platform reads it. The returned value is for bindings of the function's own.
http_response answer(std::uint16_t status, std::size_t processed, const std::string& line) {
    return json_response(status, boost::json::serialize(boost::json::object{
                                     {"Outputs", boost::json::object{{"processed", processed}}},
                                     {"Logs", boost::json::array{boost::json::string(line)}},
                                     {"ReturnValue", processed}}));
}

/// Lifetime: `run` once, destroy after it returned.
/// Threads:  the node's network executor.
class function_host {
public:
    function_host(node_runtime& node, const environment& env, const function_options& options)
        : node_(node), env_(env), options_(options) {}

    task<result<>> run() {
        const host_port place{"127.0.0.1", options_.port};
        POSTHORN_CO_LET(server,
                        http_server::listen(place, {.env = env_, .handler = [this](auto asked) {
                                                        return invoked(std::move(asked));
                                                    }}));
        POSTHORN_CO_TRY(co_await node_.start());
        server->start();
        options_.announce(fmt::format("posthorn: a function on {}", server->url()));
        asio::signal_set signals(node_.network(), SIGINT, SIGTERM);
        std::ignore = co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
        co_await server->stop(node_.settings().outbox.drain_timeout);
        co_await node_.stop();
        co_return result<>{};
    }

private:
    task<http_response> invoked(http_request asked) {
        using namespace asio::experimental::awaitable_operators;
        if (asked.method != "POST") co_return answer(405, 0, "POST is what runs it");
        // The platform has a limit of its own; what is under way then goes on until it is stopped.
        constexpr std::chrono::seconds patience{25};
        const auto ended =
            co_await (take_round(node_.core()) || node_.sleeper().sleep_for(patience));
        if (ended.index() == 1) {
            const bool busy = !is_at_work(node_.core());
            co_return answer(503, 0,
                             busy ? not_at_work(node_.settings()).what()
                                  : "the messages of this round are still under way");
        }
        const auto& took = std::get<0>(ended);
        if (!took) co_return answer(500, 0, took.error().what());
        co_return answer(
            200, *took,
            fmt::format("{} processed", counted(static_cast<std::int64_t>(*took), "message")));
    }

    node_runtime& node_;
    const environment& env_;
    const function_options& options_;
};

}  // namespace

result<> serve_function(config settings, const function_options& options) {
    POSTHORN_LET(node, open_for_rounds(std::move(settings), options.batch));
    function_host around(*node, node->env(), options);
    auto outcome = start(node->network(), around.run()).get();
    node->stop_and_wait();
    return outcome;
}

}  // namespace posthorn
