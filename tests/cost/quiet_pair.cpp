#include "cost/quiet_pair.hpp"

#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/assert.hpp"
#include "base/async/task_group.hpp"
#include "transport/wire/wire_transport.hpp"

namespace posthorn::cost {

void held_executor::post(job work) {
    jobs_.push_back(std::move(work));
    run();
}

void held_executor::let_go() {
    held_ = false;
    run();
}

void held_executor::run() {
    if (held_ || running_) return;
    running_ = true;
    while (!jobs_.empty()) {
        auto next = std::move(jobs_.front());
        jobs_.pop_front();
        next();
    }
    running_ = false;
}

/// One of the two, with what it is built from.
class quiet_pair::half final : public connector, public receiver {
public:
    half(quiet_pair& of, std::string service, half* other, const std::filesystem::path& folder)
        : of_(of),
          service_(std::move(service)),
          other_(other),
          log_({.level = log_level::error}, [this] { return time().wall(); }),
          server_({*this, of.keys_, time(), log_}, {.service = service_}) {
        core_options options{
            .database = {.path = (folder / (service_ + ".db")).string(), .service = service_},
            .sending = {.source = service_}};
        options.outbox.lease.owner = service_;
        options.outbox.drain_time = {};
        options.default_route = "quiet:";
        options.watch_commits = false;
        core_ = value_or_throw(node_core::open(
            std::move(options), {{time(), time(), of.random_, log_, of.loop_.executor(), readers_,
                                  workers_, of.how_ == tracing_kind::none ? nullptr : &of.traces_},
                                 writer_,
                                 hub_,
                                 nullptr,
                                 nullptr,
                                 this}));
    }

    result<std::unique_ptr<transport>> connect(const std::string& destination,
                                               const core_route&) override {
        return std::make_unique<wire_transport>(
            std::make_unique<line>(*this), of_.keys_, time(),
            wire_transport_options{.source = service_, .destination = destination});
    }
    [[nodiscard]] bool signs(const core_route&) const override { return true; }
    [[nodiscard]] bool has_secret(std::string_view) const override { return true; }
    task<std::vector<delivery>> receive(message_batch batch) override {
        return hub_.deliver(service_, std::move(batch));
    }

    [[nodiscard]] node_core& core() { return *core_; }
    [[nodiscard]] held_executor& writer() { return writer_; }
    [[nodiscard]] virtual_time& time() { return of_.loop_.time(); }

private:
    class line final : public wire_channel {
    public:
        explicit line(half& from) : from_(from) {}
        task<result<wire_reply>> exchange(wire_request request) override {
            co_return co_await from_.other_->server_.answer(std::move(request));
        }

    private:
        half& from_;
    };

    quiet_pair& of_;
    std::string service_;
    half* other_;
    held_executor writer_;
    inline_executor readers_, workers_;
    logger log_;
    inprocess_hub hub_;
    wire_server server_;
    std::unique_ptr<node_core> core_;
};

quiet_pair::quiet_pair(const std::filesystem::path& folder, tracing_kind how)
    : how_(how), folder_(folder) {
    if (how == tracing_kind::on) traces_.switch_on({}, {});
    const std::string text(32, 's');
    const auto ring =
        std::make_shared<key_ring>(std::vector{make_key(secret(std::as_bytes(std::span(text))))});
    keys_.replace({{"orders", ring}, {"billing", ring}});
    payload_ = R"({"text":")" + std::string(245, 'x') + "\"}";
    billing_ = std::make_unique<half>(*this, "billing", nullptr, folder);
    orders_ = std::make_unique<half>(*this, "orders", billing_.get(), folder);
    transactional_handler charge = [this](context& tables, const message& received) {
        tables.execute("INSERT INTO charges(text) VALUES (?)", received.payload);
        ++effects_;
        return std::string{};
    };
    value_or_throw(billing_->core().registry().add("Charge", {.run = std::move(charge)}));
    for (auto* one : {billing_.get(), orders_.get()}) {
        auto started = start(loop_.executor(), one->core().start());
        const auto is_done = [&] {
            return started.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
        };
        run_until(is_done);
        value_or_throw(started.get());
        bool made = false;
        one->core().submit_then(
            [](transaction& tx) {
                for (const auto* table : {"orders", "charges"})
                    tx.execute(std::string("CREATE TABLE ") + table +
                               "(id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
            },
            [&](const std::exception_ptr& why) {
                if (why) std::rethrow_exception(why);
                made = true;
            });
        run_until([&] { return made; });
    }
}

quiet_pair::~quiet_pair() {
    for (auto* one : {orders_.get(), billing_.get()}) {
        auto stopped = start(loop_.executor(), one->core().stop());
        run_until(
            [&] { return stopped.wait_for(std::chrono::seconds{0}) == std::future_status::ready; });
    }
}

void quiet_pair::run_until(const std::function<bool()>& condition) {
    constexpr int turns_max = 100'000;
    for (int turn = 0; turn < turns_max; ++turn) {
        loop_.settle();
        if (condition()) return;
        const auto next = loop_.time().next();
        POSTHORN_ASSERT(next.has_value());
        loop_.time().advance_to(*next);
    }
    POSTHORN_ASSERT(false);  // What was waited for never came.
}

void quiet_pair::write(bool with_message) {
    begun_ = loop_.time().steady();
    wanted_ += with_message ? 1 : 0;
    bool durable = false;
    orders_->writer().hold();
    orders_->core().submit_then(
        [&](transaction& tx) {
            tx.execute("INSERT INTO orders(text) VALUES (?)", payload_);
            if (with_message) tx.send("billing", "Charge", payload_);
        },
        [&](const std::exception_ptr& why) {
            if (why) std::rethrow_exception(why);
            durable = true;
        });
    orders_->writer().let_go();
    POSTHORN_ASSERT(durable);
}

void quiet_pair::send_from_another_handle() {
    begun_ = loop_.time().steady();
    ++wanted_;
    const auto now = loop_.time().wall().time_since_epoch().count();
    constexpr std::int64_t day_ms = 86'400'000;
    sqlite3* other = nullptr;
    POSTHORN_ASSERT(sqlite3_open((folder_ / "orders.db").c_str(), &other) == SQLITE_OK);
    const auto sql = fmt::format(
        "INSERT INTO outbox_messages(destination, endpoint, payload, created_at, expires_at) "
        "VALUES ('billing', 'Charge', '{}', {}, {})",
        payload_, now, now + day_ms);
    POSTHORN_ASSERT(sqlite3_exec(other, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(other);
    run_until([&] { return effects_ == wanted_; });
}

std::chrono::milliseconds quiet_pair::waited() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(loop_.time().steady() - begun_);
}

void quiet_pair::send(std::size_t together) {
    begun_ = loop_.time().steady();
    wanted_ += together;
    std::size_t durable = 0;
    orders_->writer().hold();
    for (std::size_t i = 0; i < together; ++i)
        orders_->core().submit_then(
            [this](transaction& tx) {
                tx.execute("INSERT INTO orders(text) VALUES (?)", payload_);
                tx.send("billing", "Charge", payload_);
            },
            [&](const std::exception_ptr& why) {
                if (why) std::rethrow_exception(why);
                ++durable;
            });
    orders_->writer().let_go();
    run_until([&] { return durable == together && effects_ == wanted_; });
    if (how_ == tracing_kind::on) static_cast<void>(traces_.ring().take(SIZE_MAX));
}

}  // namespace posthorn::cost
