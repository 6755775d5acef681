#include "admin/live.hpp"

#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/render.hpp"
#include "base/async/bell.hpp"
#include "base/async/run_on.hpp"
#include "feature/answers.hpp"
#include "operations/lanes.hpp"
#include "transport/http/body_source.hpp"

namespace posthorn {

namespace json = boost::json;

/// One connection that watches.
class live_feed::watcher final : public http_body_source {
public:
    watcher(live_feed& feed, std::function<bool()> is_let_in)
        : feed_(feed), is_let_in_(std::move(is_let_in)) {
        ++feed_.watchers_;
    }
    ~watcher() override { --feed_.watchers_; }
    watcher(const watcher&) = delete;
    watcher& operator=(const watcher&) = delete;

    task<std::optional<std::string>> next() override {
        if (!std::exchange(first_, false))
            static_cast<void>(co_await ended_bell_.wait_for(feed_.time_, feed_.options_.every));
        if (ended_ || !is_let_in_()) co_return std::nullopt;
        const auto event = co_await feed_.current();
        if (ended_) co_return std::nullopt;
        co_return *event;
    }
    void end() override {
        ended_ = true;
        ended_bell_.ring();
    }
    [[nodiscard]] std::chrono::milliseconds patience() const override {
        return feed_.options_.patience;
    }
    void gave_up() override { ++feed_.dropped_; }

private:
    live_feed& feed_;
    std::function<bool()> is_let_in_;
    bell ended_bell_;
    bool first_ = true;
    bool ended_ = false;
};

live_feed::live_feed(node_view& node, timer& time, live_options options)
    : node_(node), time_(time), options_(options) {
    for (auto* const each : node_.parts().stores) each->listen(foreign_);
}

live_feed::~live_feed() {
    for (auto* const each : node_.parts().stores) each->forget(foreign_);
}

std::uint64_t live_feed::stamp() const {
    auto written = foreign_.seen();
    for (const auto* const each : node_.parts().stores) written += each->units_done();
    return written;
}

result<std::shared_ptr<http_body_source>> live_feed::watch(std::function<bool()> is_let_in) {
    if (watchers_ >= options_.watchers_max)
        return fail(error_code::store_unavailable,
                    "{} pages watch this node already; close some, or ask for what you need by "
                    "itself",
                    options_.watchers_max);
    return std::make_shared<watcher>(*this, std::move(is_let_in));
}

task<std::shared_ptr<const std::string>> live_feed::current() {
    const auto now = node_.parts().time.steady();
    // A little less than the interval, so that a watcher whose second is over gets a new one.
    if (last_ && now - made_at_ < options_.every * 9 / 10) co_return last_;
    if (making_) {
        const auto& own = waiting_.emplace_back(waiter::make());
        const auto kept = own;
        co_await kept->wait_regardless();
        co_return last_;
    }
    making_ = true;
    auto made = std::make_shared<const std::string>(co_await make());
    ++snapshots_;
    making_ = false;
    last_ = made;
    made_at_ = now;
    for (const auto& each : std::exchange(waiting_, {})) each->wake();
    co_return made;
}

task<std::string> live_feed::make() {
    const auto& parts = node_.parts();
    const auto written = stamp();  // Before the look: what comes meanwhile is told with the next.
    const auto seen = co_await node_.look();
    auto health = to_json(judge_health(seen->facts), seen->facts.outbox);
    health["service"] = parts.service;
    health["version"] = parts.version;
    health["durable"] = parts.durable;
    json::object told{{"health", std::move(health)}, {"stamp", written}};
    if (seen->store_read) {
        auto stats = to_json(seen->facts.outbox, parts.time.wall());
        json::array peers;
        for (const auto* const of_database : parts.counters)
            for (const auto& one : of_database->peers.list()) peers.push_back(to_json(one));
        stats["peers"] = std::move(peers);
        stats["durable"] = parts.durable;
        told["stats"] = std::move(stats);
    }
    const auto paused = co_await run_on(parts.readers, [&] { return list_pauses(parts.stores); });
    if (paused)
        told["lanes"] =
            to_json(merge_lanes(node_.lanes(), *paused, seen->facts.outbox.backlog))["lanes"];
    std::uint64_t sent = 0;
    for (const auto* const of_database : parts.counters) sent += of_database->sent;
    const auto* const inbox = parts.inbox ? parts.inbox() : nullptr;
    const auto received = inbox != nullptr ? inbox->counts() : inbox_counts{};
    told["counters"] = json::object{{"sent", sent},
                                    {"processed", received.processed},
                                    {"duplicates", received.duplicates},
                                    {"failed", received.failed}};
    co_return fmt::format("event: node\ndata: {}\n\n", json::serialize(told));
}

void live_feed::write_metrics(prometheus_text& text) const {
    text.gauge("posthorn_live_watchers", "Pages that watch the node.",
               static_cast<double>(watchers()));
    text.counter("posthorn_live_dropped_total", "Pages that watched and did not read.", dropped());
}

namespace {

task<http_response> answer(live_feed& feed, admin_gate& gate, http_request request) {
    request.body.clear();
    request.has_hung_up = {};  // It does not outlive the answer.
    auto watching = feed.watch(
        [&gate, kept = std::move(request)] { return gate.lets_in(kept, admin_role::viewer); });
    if (!watching) co_return answer_to_error(watching.error());
    http_response response{.status = 200,
                           .headers = {{"Content-Type", "text/event-stream; charset=utf-8"},
                                       {"Cache-Control", "no-store"}},
                           .body = {}};
    response.pieces = *std::move(watching);
    co_return response;
}

}  // namespace

void add_live_route(admin_surface& into, live_feed& feed) {
    into.add({"GET",
              "/_rf/live",
              admin_role::viewer,
              {.summary = "How the node is, once a second, as server-sent events.",
               .answer = "string",
               .media = "text/event-stream"},
              [&feed, &gate = into.gate()](http_request request, const auto&) {
                  return answer(feed, gate, std::move(request));
              }});
}

}  // namespace posthorn
