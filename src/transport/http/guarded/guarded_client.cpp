#include "transport/http/guarded/guarded_client.hpp"

#include <algorithm>

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>

#include "base/assert.hpp"
#include "base/async/with_timeout.hpp"
#include "base/planted.hpp"
#include "transport/host_port.hpp"
#include "transport/http/field_text.hpp"
#include "transport/http/guarded/custom_headers.hpp"

namespace posthorn {

namespace http = boost::beast::http;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

namespace {

std::unexpected<guarded_failure> failed(guarded_trouble what, std::string text) {
    return std::unexpected(guarded_failure{what, std::move(text)});
}

// What a stranger may read of it. The addresses that a name has are theirs to know; what our guard,
// our proxy and our name servers say of the network behind us is not.
std::string told_to_strangers(const guarded_failure& why) {
    switch (why.what) {
        case guarded_trouble::none: return "";
        case guarded_trouble::bad_request: return "the request cannot be sent";
        case guarded_trouble::refused: return std::string(address_refusal::for_subscriber());
        case guarded_trouble::name: return "the name was not found";
        case guarded_trouble::connect: return "no connection";
        case guarded_trouble::proxy: return "no connection";
        case guarded_trouble::tls: return "no TLS with a valid certificate";
        case guarded_trouble::broken: return "the connection ended before the answer";
        case guarded_trouble::malformed: return "the answer is not HTTP, or too long";
        case guarded_trouble::late: return "Request timed out";
        case guarded_trouble::overloaded: return "too many connections; it will be tried again";
        case guarded_trouble::cancelled: return "stopped";
    }
    return "";
}

struct counted {
    std::size_t& count;
    explicit counted(std::size_t& of) : count(of) { ++count; }
    ~counted() { --count; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
};

bool is_named(const http_headers& in, std::string_view name) { return in.find(name).has_value(); }

guarded_step<guarded_connection::request> make_message(guarded_request& from, const http_url& to) {
    if (const auto fine = check_custom_headers(from.custom); !fine)
        return failed(guarded_trouble::bad_request, fine.error().what());
    guarded_connection::request message;
    message.version(11);
    if (!is_token(from.method)) return failed(guarded_trouble::bad_request, "no such method");
    message.method_string(from.method);
    message.target((to.path.empty() ? "/" : to.path) + (to.query.empty() ? "" : "?" + to.query));
    message.set(http::field::host, authority(to));
    for (const auto& [name, value] : from.headers) {
        if (!is_token(name) || !is_field_value(value))
            return failed(guarded_trouble::bad_request,
                          fmt::format("the header '{}' cannot be written", name));
        message.set(name, value);
    }
    for (const auto& [name, value] : from.custom) {
        if (is_named(from.headers, name))
            return failed(guarded_trouble::bad_request,
                          fmt::format("the header '{}' is written by Posthorn", name));
        message.set(name, value);
    }
    message.body() = std::move(from.body);
    message.prepare_payload();
    return message;
}

}  // namespace

/// A connection, for whom it is and since when.
struct guarded_client::link {
    guarded_connection wire;
    std::string origin;
    steady_time made;
};

/// One request on its way.
struct guarded_client::call {
    http_url to;
    guarded_connection::request message;
    guarded_answer answer{};
    steady_time began;
    nanoseconds limit;

    [[nodiscard]] nanoseconds left(const clock& now) const {
        return std::max(limit - (now.steady() - began), nanoseconds(0));
    }
    [[nodiscard]] nanoseconds left(const clock& now, nanoseconds of) const {
        return std::min(left(now), of);
    }
};

guarded_client::guarded_client(deps parts, guarded_client_options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      late_(parts_.tasks, parts_.time, parts_.now),
      idle_({options_.idle_max, options_.age_max, options_.idle_time_max}) {}

guarded_client::~guarded_client() { POSTHORN_ASSERT(in_use_ == 0 && !watched_); }

void guarded_client::stop() {
    stopped_ = true;
    while (const auto each = idle_.take_oldest()) (*each)->wire.close();
    if (watched_ && watching_ != nullptr) watching_->emit(boost::asio::cancellation_type::all);
    late_.stop();
}

task<guarded_answer> guarded_client::send(guarded_request request) {
    const auto began = parts_.now.steady();
    const auto ended = [&](guarded_answer answer, const guarded_step<>& outcome) {
        answer.took.whole = duration_cast<microseconds>(parts_.now.steady() - began);
        if (outcome) return answer;
        answer.trouble = outcome.error().what;
        answer.for_operator = outcome.error().text;
        answer.for_subscriber = told_to_strangers(outcome.error());
        return answer;
    };
    const auto to = judge_url(request.url, options_.rules);
    if (!to) co_return ended({}, failed(guarded_trouble::refused, to.error().for_operator()));
    auto message = make_message(request, *to);
    if (!message) co_return ended({}, std::unexpected(message.error()));
    call now{*to, *std::move(message), {}, began, request.limit.value_or(options_.limits.whole)};
    const auto outcome = co_await perform(now);
    co_return ended(std::move(now.answer), outcome);
}

task<guarded_step<>> guarded_client::perform(call& now) {
    // One that was kept may have been closed by its peer at this very moment. What such a one did
    // not begin to answer is sent on a new one: receivers know a repeat by its id.
    while (auto kept = idle_.take(origin(now.to), parts_.now.steady())) {
        if ((*kept)->wire.is_stale()) {
            (*kept)->wire.close();
            continue;
        }
        const counted mine(in_use_);
        now.answer.reused = true;
        auto outcome = co_await use(*kept, now);
        if (outcome || !(*kept)->wire.unanswered() ||
            outcome.error().what != guarded_trouble::broken)
            co_return outcome;
        now.answer = {};
    }
    if (const auto room = make_room(); !room) co_return std::unexpected(room.error());
    const counted mine(in_use_);
    auto fresh = co_await open(now);
    if (!fresh) co_return std::unexpected(fresh.error());
    co_return co_await use(*fresh, now);
}

task<guarded_step<>> guarded_client::use(connection on, call& now) {
    now.answer.address = on->wire.address().to_string();
    const auto began = parts_.now.steady();
    auto outcome = co_await on->wire.exchange(now.message, now.answer, now.left(parts_.now));
    now.answer.took.exchange = duration_cast<microseconds>(parts_.now.steady() - began);
    if (outcome && on->wire.keeps() && !stopped_)
        keep(std::move(on));
    else
        on->wire.close();
    co_return outcome;
}

void guarded_client::keep(connection used) {
    const auto made = used->made;
    const auto name = used->origin;
    for (const auto& each : idle_.put(name, std::move(used), made, parts_.now.steady()))
        each->wire.close();
    watch_idle();
}

guarded_step<> guarded_client::make_room() {
    if (stopped_) return failed(guarded_trouble::cancelled, "the client was stopped");
    if (connections() < options_.connections_max) return {};
    const auto oldest = idle_.take_oldest();
    if (!oldest)
        return failed(guarded_trouble::overloaded,
                      fmt::format("all {} connections are in use", options_.connections_max));
    (*oldest)->wire.close();
    return {};
}

task<guarded_step<guarded_client::connection>> guarded_client::open(call& now) {
    const auto& limits = options_.limits;
    auto measured = [&, since = parts_.now.steady()](microseconds& into) mutable {
        const auto here = parts_.now.steady();
        into = duration_cast<microseconds>(here - std::exchange(since, here));
    };
    auto target = co_await addresses(now);
    measured(now.answer.took.resolve);
    if (!target) co_return std::unexpected(target.error());

    const auto& proxy = options_.proxy;
    auto made =
        std::make_shared<link>(link{guarded_connection({parts_.where, parts_.time, parts_.now,
                                                        late_, now.to, parts_.tls, limits}),
                                    origin(now.to), parts_.now.steady()});
    auto way = *target;
    if (proxy) {
        auto found = co_await with_timeout(parts_.time, now.left(parts_.now),
                                           parts_.names.find(proxy->host));
        if (!found)
            co_return failed(guarded_trouble::proxy,
                             fmt::format("no address of the proxy: {}", found.error().what()));
        way = *std::move(found);
    }
    auto step = co_await made->wire.connect(way, proxy ? proxy->port : now.to.port,
                                            now.left(parts_.now, limits.connect));
    if (step && proxy) {
        const auto host = proxy->resolves ? now.to.host : target->front().to_string();
        step = co_await made->wire.pass_proxy(to_string(host_port{host, now.to.port}),
                                              proxy->authorization,
                                              now.left(parts_.now, limits.proxy));
    }
    measured(now.answer.took.connect);
    if (step && now.to.tls) {
        step = co_await made->wire.begin_tls(now.left(parts_.now, limits.tls));
        measured(now.answer.took.tls);
    }
    if (!step) {
        made->wire.close();
        co_return std::unexpected(step.error());
    }
    co_return made;
}

// All that the URL's host is, each judged; nothing to judge where a proxy looks for it.
task<guarded_step<std::vector<ip_address>>> guarded_client::addresses(call& now) {
    if (options_.proxy && options_.proxy->resolves) co_return std::vector<ip_address>{};
    auto found =
        co_await with_timeout(parts_.time, now.left(parts_.now), parts_.names.find(now.to.host));
    if (!found) {
        using enum guarded_trouble;
        const auto code = found.error().code();
        co_return failed(code == error_code::cancelled    ? cancelled
                         : code == error_code::overloaded ? overloaded
                         : code == error_code::timed_out  ? late
                                                          : name,
                         found.error().what());
    }
    if (const auto fine = judge_answer(*found, options_.rules); !fine)
        co_return failed(guarded_trouble::refused,
                         fmt::format("{}: {}", now.to.host, fine.error().for_operator()));
    if (POSTHORN_PLANTED(guard_before_the_last_look_up))
        if (auto again = co_await parts_.names.find(now.to.host)) co_return *std::move(again);
    co_return *std::move(found);
}

void guarded_client::watch_idle() {
    if (std::exchange(watched_, true)) return;
    parts_.tasks.spawn(close_old(), watching_);
}

// Runs while there is an idle connection.
task<> guarded_client::close_old() {
    while (const auto next = idle_.next_end()) {
        const auto now = parts_.now.steady();
        if (*next > now && !co_await parts_.time.sleep_for(*next - now)) break;
        for (const auto& each : idle_.take_old(parts_.now.steady())) each->wire.close();
    }
    watched_ = false;
    watching_ = nullptr;
}

result<std::shared_ptr<tls_context>> make_tls_for_strangers(const std::string& authorities) {
    POSTHORN_LET(context, make_tls_client(authorities));
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    return context;
}

}  // namespace posthorn
