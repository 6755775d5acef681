#include "transport/http/client_pool.hpp"

#include <algorithm>

#include <boost/asio/dispatch.hpp>

#include "base/async/cancellation.hpp"
#include "base/async/with_timeout.hpp"
#include "transport/http/client_connection.hpp"
#include "transport/http/field_text.hpp"

namespace posthorn {

namespace http = boost::beast::http;

namespace {

error closing() { return {error_code::unreachable, "the client was stopped"}; }

bool is_writable(const http_request& request) {
    return is_token(request.method) && request.path.starts_with('/') &&
           std::ranges::all_of(request.path + request.query,
                               [](char c) { return c > ' ' && c != '\x7f'; }) &&
           std::ranges::all_of(request.headers, [](const http_headers::field& each) {
               return is_token(each.first) && is_field_value(each.second);
           });
}

std::shared_ptr<http_call> make_call(http_request request, const http_url& to,
                                     const http_call_limits& limits) {
    auto call = std::make_shared<http_call>();
    auto& message = call->message;
    message.version(11);
    message.method_string(request.method);
    message.target(request.query.empty() ? request.path : request.path + "?" + request.query);
    message.set(http::field::host, authority(to));
    for (const auto& [name, value] : request.headers) message.set(name, value);
    message.erase(http::field::transfer_encoding);  // The length says it already.
    message.body() = std::move(request.body);
    message.prepare_payload();
    call->reply_bytes_max = limits.reply_bytes_max;
    return call;
}

}  // namespace

client_pool::client_pool(http_client_deps parts, http_url to, options chosen)
    : parts_(std::move(parts)), to_(std::move(to)), options_(std::move(chosen)) {}

client_pool::~client_pool() {
    // The connections belong to the executor; where it runs no more, they are gone with it.
    boost::asio::dispatch(parts_.where, [connections = std::move(connections_)] {
        for (const auto& each : connections) each->close(closing());
    });
}

void client_pool::stop() {
    stopped_ = true;
    for (const auto& each : std::exchange(connections_, {})) each->close(closing());
    for (const auto& turn : std::exchange(waiting_, {})) turn->wake();
}

task<result<http_response>> client_pool::send(http_request request, http_call_limits limits) {
    if (!is_writable(request))
        co_return fail(error_code::invalid_argument,
                       "a request to {} cannot be written: its method, path or headers hold "
                       "characters that HTTP does not allow",
                       origin(to_));
    auto call = make_call(std::move(request), to_, limits);
    auto outcome =
        co_await with_timeout(parts_.time, limits.exchange_timeout, perform(std::move(call)));
    if (!outcome && outcome.error().code() == error_code::timed_out)
        co_return fail(error_code::unreachable, "{} has not answered within {} ms", origin(to_),
                       limits.exchange_timeout.count());
    co_return outcome;
}

task<result<http_response>> client_pool::perform(std::shared_ptr<http_call> call) {
    for (;;) {
        POSTHORN_CO_LET(on, co_await place(call));
        const bool done = co_await call->done->wait();
        if (!done) on->forget(call);
        wake_one();
        if (!done) co_return cancelled();
        // A new connection fails for good, so this ends when those that were kept are used up.
        if (*call->outcome || stopped_ || !may_repeat(*call)) co_return *std::move(call->outcome);
    }
}

// Gives the call to a connection, as soon as there is one with room for it.
task<result<client_pool::connection>> client_pool::place(std::shared_ptr<http_call> call) {
    while (!stopped_) {
        if (auto chosen = choose()) {
            chosen->submit(call);
            // A reply may have made room for more than the one who was woken for it.
            if (has_room()) wake_one();
            co_return chosen;
        }
        const auto turn = waiting_.emplace_back(waiter::make());
        if (co_await turn->wait()) continue;
        std::erase(waiting_, turn);
        co_return cancelled();
    }
    co_return fail(error_code::closed, "the client of {} was stopped", origin(to_));
}

// An idle one, else a new one, else the one with the fewest requests; null if all are full.
client_pool::connection client_pool::choose() {
    std::erase_if(connections_, [](const connection& each) { return each->is_closed(); });
    const auto least = std::ranges::min_element(connections_, {}, [](const connection& each) {
        return std::pair(!each->has_room(), each->load());
    });
    const bool has_room = least != connections_.end() && (*least)->has_room();
    if (has_room && (*least)->load() == 0) return *least;
    if (connections_.size() >= options_.limits.connections_max) return has_room ? *least : nullptr;
    auto fresh = std::make_shared<client_connection>(
        client_connection_deps{parts_.where, to_, parts_.tls, options_.limits, options_.peer_name});
    parts_.tasks.spawn(client_connection::run(fresh));
    return connections_.emplace_back(std::move(fresh));
}

bool client_pool::has_room() const {
    return connections_.size() < options_.limits.connections_max ||
           std::ranges::any_of(
               connections_, [](const connection& each) { return each->has_room(); });
}

bool client_pool::may_repeat(const http_call& call) const {
    if (!call.unseen) return false;
    const auto method = call.message.method();
    return options_.repeats_are_harmless || method == http::verb::get ||
           method == http::verb::head || method == http::verb::put ||
           method == http::verb::delete_ || method == http::verb::options;
}

void client_pool::wake_one() {
    while (!waiting_.empty()) {
        const auto turn = std::move(waiting_.front());
        waiting_.pop_front();
        if (turn->wake()) return;
    }
}

}  // namespace posthorn
