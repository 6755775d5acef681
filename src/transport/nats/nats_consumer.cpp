#include "transport/nats/nats_consumer.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "base/text/utf8.hpp"
#include "transport/nats/nats_rules.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::milliseconds pause_min{100};
constexpr std::chrono::milliseconds pause_max{2'000};
constexpr std::chrono::milliseconds pause_after_loss{500};
constexpr std::chrono::milliseconds lease_usual = std::chrono::seconds{30};
constexpr std::chrono::seconds request_life{30};
/// A server that says nothing for so long has forgotten the request.
constexpr std::chrono::seconds silence_max{45};
constexpr std::chrono::seconds look_every{5};
constexpr std::size_t request_max = 64;
constexpr auto pulls = "pull";
constexpr auto done_word = "+ACK";
constexpr auto put_back_word = "-NAK";
constexpr auto working_word = "+WPI";

struct info_end {
    void operator()(jsConsumerInfo* one) const noexcept { jsConsumerInfo_Destroy(one); }
};
using consumer_info = std::unique_ptr<jsConsumerInfo, info_end>;

struct context_end {
    void operator()(jsCtx* one) const noexcept { jsCtx_Destroy(one); }
};
using stream_context = std::unique_ptr<jsCtx, context_end>;

}  // namespace

/// What is out on the connection, and the connection. The library's threads come here.
class nats_consumer::desk final : public nats_listener {
public:
    explicit desk(options of, const clock& time) : options_(std::move(of)), time_(time) {}

    void opened(std::unique_ptr<nats_connection> on, std::string request_subject,
                std::chrono::milliseconds lease) {
        {
            const std::lock_guard held(mutex_);
            connection_ = std::move(on);
            request_subject_ = std::move(request_subject);
            lease_ = lease;
            state_.connected = true;
            state_.trouble.clear();
            ++state_.connections;
            asked_ = 0;
            lost_ = connection_->is_open() ? std::string() : "NATS went away";
            heard_at_ = time_.steady();
            ask();
        }
        arrived();
    }

    /// Gives what is out back to the server.
    void close(const error& why) {
        std::unique_ptr<nats_connection> gone;  // Closed without the lock: it waits for callbacks.
        std::map<std::uint64_t, holding> out;
        {
            const std::lock_guard held(mutex_);
            gone = std::move(connection_);
            out.swap(held_);
            came_.clear();
            bytes_ = 0;
            state_.connected = false;
            state_.trouble = why.what();
        }
        if (gone && gone->is_open()) {
            const bool all_said = std::ranges::all_of(out, [&](const auto& each) {
                return say(*gone, each.second.what.get(), put_back_word);
            });
            if (all_said) natsConnection_FlushTimeout(gone->raw(), 1'000);
        }
        arrived();
    }

    void answered(std::string_view subject, nats_message what) override {
        if (subject != pulls) return;
        {
            const std::lock_guard held(mutex_);
            heard_at_ = time_.steady();
            const auto status = nats_header(what.get(), "Status");
            status.empty() ? take_in(std::move(what)) : heed(status, what.get());
        }
        arrived();
    }

    void ended(const error& why) override {
        const std::lock_guard held(mutex_);
        give_up(why.what());
    }

    std::vector<received_message> take() {
        const std::lock_guard held(mutex_);
        return std::exchange(came_, {});
    }

    void end(std::uint64_t tag, const char* word) {
        const std::lock_guard held(mutex_);
        const auto found = held_.find(tag);
        if (found == held_.end()) return;  // Of a connection that is gone: it comes again.
        tell(found->second, word);
        bytes_ -= found->second.bytes;
        held_.erase(found);
        ask();
    }

    void extend(std::uint64_t tag) {
        const std::lock_guard held(mutex_);
        const auto found = held_.find(tag);
        if (found != held_.end()) tell(found->second, working_word);
    }

    [[nodiscard]] bool holds(std::uint64_t tag) const {
        const std::lock_guard held(mutex_);
        return held_.contains(tag);
    }
    [[nodiscard]] std::chrono::milliseconds lease() const {
        const std::lock_guard held(mutex_);
        return lease_;
    }
    [[nodiscard]] consumer_state state() const {
        const std::lock_guard held(mutex_);
        return state_;
    }
    /// Why the connection is of no use any more; empty while it is.
    [[nodiscard]] std::string wait_for_loss() {
        std::unique_lock held(mutex_);
        while (!stopping_ && lost_.empty()) {
            changed_.wait_for(held, look_every);
            if (time_.steady() - heard_at_ > silence_max) lost_ = "NATS did not answer for 45 s";
        }
        return std::exchange(lost_, {});
    }
    void rest(std::chrono::milliseconds pause) {
        std::unique_lock held(mutex_);
        if (!stopping_) changed_.wait_for(held, pause);
    }
    [[nodiscard]] bool stops() const {
        const std::lock_guard held(mutex_);
        return stopping_;
    }
    void listen(std::function<void()> arrived) { arrived_ = std::move(arrived); }
    /// From now on its user is told of nothing, whatever the library still does.
    void stop() {
        {
            const std::lock_guard held(telling_);
            arrived_ = nullptr;
        }
        const std::lock_guard held(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }

private:
    struct holding {
        nats_message what;
        std::size_t bytes = 0;
    };

    void arrived() {
        const std::lock_guard held(telling_);
        if (arrived_) arrived_();
    }

    void give_up(std::string why) {
        lost_ = std::move(why);
        changed_.notify_all();
    }

    // By hand: the library's own way is for subscriptions that it made for a consumer. What is lost
    // with the connection the server gives out again.
    static bool say(const nats_connection& on, natsMsg* of, const char* word) {
        const char* const to = natsMsg_GetReply(of);
        return to == nullptr || natsConnection_PublishString(on.raw(), to, word) == NATS_OK;
    }

    // What could not be written may have been written in part: nothing may follow it.
    void tell(const holding& of, const char* word) {
        if (connection_ && lost_.empty() && !say(*connection_, of.what.get(), word))
            give_up("NATS takes nothing any more");
    }

    void take_in(nats_message what) {
        if (asked_ > 0) --asked_;
        received_message one{.what = read_nats_message(what.get()), .tag = ++last_tag_};
        const auto* const reply = natsMsg_GetReply(what.get());
        if (const auto stands = read_ack_subject(reply == nullptr ? "" : reply)) {
            one.deliveries = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(stands->deliveries, 1'000'000'000));
            one.offset = fmt::format("{}/{}", stands->stream, stands->sequence);
        }
        const auto bytes = bytes_of(one.what);
        bytes_ += bytes;
        held_.emplace(one.tag, holding{std::move(what), bytes});
        came_.push_back(std::move(one));
        ask();
    }

    void heed(const std::string& status, natsMsg* what) {
        const auto read = read_pull_status(status, nats_header(what, "Nats-Pending-Messages"));
        if (!read || read->what == pull_status::kind::beat) return;
        if (read->what == pull_status::kind::lost)
            give_up(fmt::format("NATS says {} {}", status,
                                clean_utf8(nats_header(what, "Description"), 200)));
        asked_ -= std::min(asked_, read->unsent.value_or(asked_));
        if (read->what == pull_status::kind::over) ask();
    }

    /// More, once half of what was asked for has come.
    void ask() {
        if (!connection_ || !lost_.empty() || bytes_ >= options_.bytes_max) return;
        const auto out = held_.size() + asked_;
        const auto room = options_.messages_max - std::min(out, options_.messages_max);
        const auto wanted = std::min(room, request_max);
        if (wanted == 0 || asked_ * 2 > wanted) return;
        const auto request =
            fmt::format(R"({{"batch":{},"expires":{}}})", wanted,
                        std::chrono::duration_cast<std::chrono::nanoseconds>(request_life).count());
        if (natsConnection_PublishRequest(connection_->raw(), request_subject_.c_str(),
                                          connection_->inbox(pulls).c_str(), request.data(),
                                          static_cast<int>(request.size())) != NATS_OK)
            return give_up("NATS takes nothing any more");
        asked_ += wanted;
    }

    const options options_;
    const clock& time_;
    std::mutex telling_;
    std::function<void()> arrived_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;
    std::unique_ptr<nats_connection> connection_;
    std::string request_subject_;
    std::chrono::milliseconds lease_ = lease_usual;
    std::map<std::uint64_t, holding> held_;
    std::vector<received_message> came_;
    std::size_t bytes_ = 0;
    std::size_t asked_ = 0;  // Messages that the server may still send.
    std::uint64_t last_tag_ = 0;
    consumer_state state_;
    std::string lost_;
    steady_time heard_at_{};
};

nats_consumer::nats_consumer(deps with, options of)
    : with_(std::move(with)),
      options_(std::move(of)),
      desk_(std::make_shared<desk>(options_, with_.env.clock)) {}

nats_consumer::~nats_consumer() {
    desk_->stop();
    names_.cut();
}

void nats_consumer::start(std::function<void()> arrived) {
    desk_->listen(std::move(arrived));
    thread_.post([this] { run(); });
}

std::vector<received_message> nats_consumer::take() { return desk_->take(); }
void nats_consumer::acknowledge(std::uint64_t tag) { desk_->end(tag, done_word); }
void nats_consumer::put_back(std::uint64_t tag) { desk_->end(tag, put_back_word); }
void nats_consumer::extend(std::uint64_t tag) { desk_->extend(tag); }
std::chrono::milliseconds nats_consumer::lease() const { return desk_->lease(); }
bool nats_consumer::holds(std::uint64_t tag) const { return desk_->holds(tag); }
consumer_state nats_consumer::state() const { return desk_->state(); }

void nats_consumer::run() {
    auto pause = pause_min;
    while (!desk_->stops()) {
        if (const auto made = connect(); !made) {
            desk_->close(made.error());
            desk_->rest(std::exchange(pause, std::min(pause * 2, pause_max)));
            continue;
        }
        pause = pause_min;
        const auto why = desk_->wait_for_loss();
        desk_->close({error_code::unreachable, why.empty() ? "the node stops" : why});
        desk_->rest(pause_after_loss);
    }
}

result<> nats_consumer::connect() {
    POSTHORN_TRY(names_.ask(with_.at.url.host));
    std::string password;
    if (with_.password) {
        POSTHORN_LET(read, with_.password());
        password = std::move(read);
    }
    POSTHORN_LET(connection, nats_connection::open(with_.at, password, desk_));
    // Each of these steps may take five seconds.
    const auto stopped = [this]() -> result<> {
        if (!desk_->stops()) return {};
        return fail(error_code::unreachable, "the node stops");
    };
    POSTHORN_TRY(stopped());
    jsCtx* raw = nullptr;
    if (const auto code = natsConnection_JetStream(&raw, connection->raw(), nullptr);
        code != NATS_OK)
        return std::unexpected(nats_error(code, "NATS has no JetStream"));
    const stream_context stream(raw);
    jsConsumerInfo* found = nullptr;
    jsErrCode why{};
    const auto* const name = options_.stream.c_str();
    auto code =
        js_GetConsumerInfo(&found, stream.get(), name, options_.durable.c_str(), nullptr, &why);
    if (code == NATS_NOT_FOUND && why != JSStreamNotFoundErr) {
        POSTHORN_TRY(stopped());
        jsConsumerConfig with;
        jsConsumerConfig_Init(&with);
        with.Durable = options_.durable.c_str();
        with.AckPolicy = js_AckExplicit;
        with.AckWait = std::chrono::duration_cast<std::chrono::nanoseconds>(lease_usual).count();
        if (!options_.subject.empty()) with.FilterSubject = options_.subject.c_str();
        code = js_AddConsumer(&found, stream.get(), name, &with, nullptr, &why);
    }
    const consumer_info about(found);
    if (why == JSStreamNotFoundErr)
        return fail(error_code::unreachable,
                    "there is no stream '{}'; make it, or correct the source", options_.stream);
    if (code != NATS_OK)
        return std::unexpected(nats_error(
            code, fmt::format("the stream '{}' cannot be consumed as '{}' ({})", options_.stream,
                              options_.durable, static_cast<int>(why))));
    if (about->Config->AckPolicy != js_AckExplicit || about->Config->DeliverSubject != nullptr)
        return fail(error_code::invalid_configuration,
                    "the consumer '{}' of the stream '{}' does not pull with explicit "
                    "acknowledgements; name another one, which is made so",
                    options_.durable, options_.stream);
    const auto lease = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::nanoseconds(about->Config->AckWait));
    desk_->opened(std::move(connection),
                  fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.{}", options_.stream, options_.durable),
                  lease > lease.zero() ? lease : lease_usual);
    return {};
}

}  // namespace posthorn
