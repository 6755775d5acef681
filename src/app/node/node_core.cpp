#include "app/node/node_core.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include <boost/asio/post.hpp>

#include "app/config/core_settings.hpp"
#include "app/node/declared_uses.hpp"
#include "app/node/node_routes.hpp"
#include "app/store/open_store.hpp"
#include "base/assert.hpp"
#include "message/refusal.hpp"
#include "store/dead_letters.hpp"
#include "store/inside_unit.hpp"
#include "store/user_transaction.hpp"

namespace posthorn {

namespace asio = boost::asio;

node_core::node_core(core_options options, node_seams seams)
    : options_(std::move(options)),
      seams_(std::move(seams)),
      ids_([&time = seams_.env.clock] { return time.wall(); }, seams_.env.random),
      maker_(options_.sending, seams_.env.clock, ids_, seams_.env.traces),
      replies_(
          std::make_shared<replies>([this](reply_limit limit) { watch_limit(std::move(limit)); })),
      services_(seams_.env.network) {
    options_.retention.sent_at_least = [this] {
        std::chrono::milliseconds longest{};
        for (const auto& ask : features_.sent_kept) longest = std::max(longest, ask());
        return longest;
    };
}

node_core::~node_core() {
    if (!database_) return;
    for (auto* const each : features_.listeners) store().forget(*each);
}

result<std::unique_ptr<node_core>> node_core::open(core_options options, node_seams seams) {
    std::unique_ptr<node_core> made(new node_core(std::move(options), std::move(seams)));
    const auto& asked = made->options_;
    const auto& with = made->seams_;
    POSTHORN_LET(routes, routes::make(asked, with));
    made->routes_ = std::move(routes);
    POSTHORN_TRY(made->prepare_store());
    POSTHORN_LET(database,
                 node_database::open(asked.database, {asked, with, with.writer, *made->routes_,
                                                      made->hooks_, made->before_store_.shipper}));
    made->database_ = std::move(database);
    // Where no call can be made, none waits: a Response's sender shall keep it, not lose it here.
    if (asked.may_call) made->handlers_.add_replies({.run = made->reply_handler()});
    if (asked.inbox_database) {
        POSTHORN_ASSERT(with.inbox_writer != nullptr);
        POSTHORN_LET(inbox,
                     node_database::open(*asked.inbox_database, {asked, with, *with.inbox_writer,
                                                                 *made->routes_, made->hooks_}));
        made->inbox_database_ = std::move(inbox);
    }
    POSTHORN_TRY(made->install_features());
    return made;
}

result<> node_core::prepare_store() {
    const auto plan = plan_of(options_);
    for (const auto& each : options_.features) {
        store_builder builder({.env = seams_.env, .plan = plan, .settings = each.settings},
                              before_store_);
        POSTHORN_TRY(each.what->before_store(builder));
    }
    features_.shown = before_store_.shown;
    return {};
}

result<> node_core::install_features() {
    for (const auto& each : options_.features) {
        node_builder builder(
            {.env = seams_.env,
             .database = store(),
             .inbox_database = inbox_store(),
             .handlers = handlers_,
             .maker = maker_,
             .settings = each.settings,
             .endpoints = each.endpoints,
             .node = options_.node,
             .outbox = counters(),
             .inbox = [this]() -> const class inbox* { return inbox_.get(); },
             .receives = [this]() -> receiver* { return inbox_.get(); },
             .watch = options_.watch,
             .web = seams_.web,
             .identity = seams_.identity,
             .ways = [this](std::string_view service) { return routes_->find(service); },
             .open_outside =
                 [this](const std::string& url) { return open_outside(url, seams_.env.clock); },
             .fail_stop = options_.fail_stop},
            features_);
        POSTHORN_TRY(each.what->install(builder));
    }
    for (auto* const each : features_.routes) routes_->add(*each);
    for (auto* const each : features_.listeners) store().listen(*each);
    for (const auto& each : features_.given_up) hooks_.add(each);
    return {};
}

/// A Response that a call waits for is handed over on a thread that the caller may go on with. It
/// may be handed over before it is recorded here: until then its sender keeps it.
transactional_handler node_core::reply_handler() {
    return [waiting = replies_, &workers = seams_.env.workers, &log = seams_.env.log](
               context&, const message& received) {
        workers.post([waiting, &log, id = received.correlation_id, from = received.source,
                      payload = received.payload, refusal = refusal_in(received.headers)] {
            const auto why = refusal ? std::make_exception_ptr(error(
                                           error_code::closed,
                                           fmt::format("{} refused the call: {}", from, *refusal)))
                                     : nullptr;
            if (!waiting->complete(id, from, payload, why))
                log.warn("Inbox: {Source} answered a call that was made to another service",
                         {{"Source", from}});
        });
        return std::string{};
    };
}

namespace {

// Cancelled, it calls `late` for replies that the node's stop has answered.
task<> keep_limit(timer& time, executor& workers, reply_limit limit) {
    const auto within = std::min<std::chrono::milliseconds>(limit.within, std::chrono::years{100});
    const bool in_time = co_await limit.answered->wait_for(time, within);
    if (!in_time) workers.post(std::move(limit.late));
}

}  // namespace

void node_core::watch_limit(reply_limit limit) {
    // The replies close on the network's thread too, and before we are gone.
    asio::post(seams_.env.network, [this, among = replies_, limit = std::move(limit)]() mutable {
        if (!among->is_closed())
            services_.spawn(keep_limit(seams_.env.timer, seams_.env.workers, std::move(limit)));
    });
}

result<> node_core::declare_use(detail::service_use use) {
    if (handlers_.frozen())
        return fail(error_code::invalid_argument,
                    "a proxy of {} comes too late; make proxies before the node starts", use.name);
    uses_.push_back(std::move(use));
    return {};
}

task<result<>> node_core::start() {
    if (started_) co_return result<>{};
    for (const auto& check : features_.before_start) POSTHORN_CO_TRY(check());
    POSTHORN_CO_TRY(handlers_.complete());
    if (options_.parts == node_parts::outbox && handlers_.has_any())
        co_return fail(error_code::invalid_configuration,
                       "this node has handlers but no inbox, so nothing would reach them; give it "
                       "one with service.parts = \"both\", or remove the handlers");
    POSTHORN_CO_TRY(check_uses(
        uses_, [this](std::string_view destination) { return routes_->facts_of(destination); }));
    started_ = true;
    handlers_.freeze();
    if (options_.parts != node_parts::outbox) POSTHORN_CO_TRY(start_inbox());
    const auto dispatch = options_.parts == node_parts::inbox ? node_database::with_outbox::no
                                                              : node_database::with_outbox::yes;
    for (auto* const each : databases()) each->start(services_, dispatch);
    features_.services.start(services_);
    co_return result<>{};
}

result<> node_core::start_inbox() {
    inbox_ = std::make_unique<class inbox>(
        inbox_deps{seams_.env, inbox_store(), handlers_, maker_, ids_}, options_.inbox);
    POSTHORN_TRY(seams_.hub.join(options_.sending.source, *inbox_));
    if (!options_.cleanup) return {};
    if (inbox_store().sharing() != nullptr) {
        inbox_job_ = std::make_unique<shared_job>(
            shared_job::deps{seams_.env, inbox_store(), options_.owner_is_gone},
            options_.outbox.lease, "inbox retention", [this] { return inbox_->run(); });
        services_.spawn(inbox_job_->run());
    } else {
        services_.spawn(inbox_->run());  // It purges, and does nothing else.
    }
    return {};
}

result<> node_core::replace_routes(core_routes routes, std::optional<core_route> default_route) {
    POSTHORN_TRY(routes_->replace(std::move(routes), std::move(default_route)));
    for (auto* const each : databases()) each->dispatcher().routes_changed();
    return {};
}

std::vector<node_database*> node_core::databases() const {
    std::vector<node_database*> all{database_.get()};
    if (inbox_database_) all.push_back(inbox_database_.get());
    return all;
}

std::vector<const outbox_counters*> node_core::counters() const {
    std::vector<const outbox_counters*> all;
    for (auto* const each : databases()) all.push_back(&each->dispatcher().counters());
    return all;
}

std::vector<sqlite::backup_state> node_core::backups() const {
    std::vector<sqlite::backup_state> all;
    for (auto* const each : databases())
        if (auto state = each->backups()) all.push_back(*std::move(state));
    return all;
}

void node_core::wake() {
    for (auto* const each : databases()) each->dispatcher().wake();
}

task<> node_core::stop() {
    if (inbox_) co_await seams_.hub.leave(options_.sending.source);
    replies_->close();
    features_.services.stop();
    for (auto* const each : databases()) each->stop();
    services_.cancel();
    co_await services_.join();
    for (const auto& last : features_.at_end) co_await last();
}

void node_core::stop_stores() {
    for (auto* const each : databases()) each->store().stop();
}

result<> node_core::check_integrity() {
    for (auto* const each : databases()) POSTHORN_TRY(each->store().check_integrity());
    return {};
}

namespace {

/// A user's transaction on its way: what it threw goes back to the caller as it was thrown.
class user_work {
public:
    template <class Work>
    result<> run(const Work& work, store_transaction& tx, const message_maker& maker) {
        thrown_ = nullptr;  // Of an earlier run.
        user_transaction seen(tx, maker);
        try {
            work(seen);
        } catch (const std::exception& failure) {
            thrown_ = std::current_exception();
            return fail(error_code::statement_failed, "{}", failure.what());
        } catch (...) {
            thrown_ = std::current_exception();
            return fail(error_code::statement_failed, "the transaction threw something unknown");
        }
        return seen.intact();
    }

    /// Null if it was committed.
    [[nodiscard]] std::exception_ptr failure(const result<>& outcome) const {
        if (outcome) return nullptr;
        if (thrown_ && outcome.error().code() == error_code::statement_failed) return thrown_;
        return std::make_exception_ptr(outcome.error());
    }

private:
    std::exception_ptr thrown_;
};

struct posted_work {
    node_core::work_type work;
    node_core::done_type done;
    user_work run{};
};

/// A message on its way into the outbox. It is given away when it is stored, and comes back if that
/// is undone, so that its payload is never copied.
struct message_on_its_way {
    message body;
    uuid stored_as{};  // Another's id, if its dedupe key was known.

    result<> store(store_transaction& tx) {
        POSTHORN_LET(stored, tx.outbox().insert(std::move(body)));
        stored_as = stored.id;
        return {};
    }
    void take_back(std::vector<outbox_row> rows) { body = std::move(rows.front().body); }
};

}  // namespace

void node_core::submit_then(work_type work, done_type done) {
    auto posted = std::make_shared<posted_work>(std::move(work), std::move(done));
    store().submit(
        {.work = [posted, this](
                     store_transaction& tx) { return posted->run.run(posted->work, tx, maker_); },
         .done =
             [posted, &workers = seams_.env.workers](const result<>& outcome) {
                 workers.post(
                     [posted, failure = posted->run.failure(outcome)] { posted->done(failure); });
             },
         .alone = true});
}

// The caller waits, so nothing of its own need be copied.
void node_core::run(const std::function<void(transaction&)>& work) {
    value_or_throw(require_outside_unit());
    std::promise<std::exception_ptr> answer;
    user_work seen;
    store().submit_and_wait(
        {.work = [&](store_transaction& tx) { return seen.run(work, tx, maker_); },
         .done = [&](const result<>& outcome) { answer.set_value(seen.failure(outcome)); },
         .alone = true});
    if (auto failure = answer.get_future().get()) std::rethrow_exception(failure);
}

result<uuid> node_core::store_message(message made) {
    POSTHORN_TRY(require_outside_unit());
    message_on_its_way sending{std::move(made)};
    std::promise<result<>> answer;
    store().submit_and_wait(
        {.work = [&](store_transaction& tx) { return sending.store(tx); },
         .done = [&](result<> outcome) { answer.set_value(std::move(outcome)); },
         .undone = [&](std::vector<outbox_row> rows) { sending.take_back(std::move(rows)); }});
    POSTHORN_TRY(answer.get_future().get());
    return sending.stored_as;
}

void node_core::store_message_then(message made, sent_type done) {
    struct posted_message {
        message_on_its_way sending;
        sent_type done;
    };
    const auto posted =
        std::make_shared<posted_message>(message_on_its_way{std::move(made)}, std::move(done));
    store().submit({.work = [posted](store_transaction& tx) { return posted->sending.store(tx); },
                    .done =
                        [posted, &workers = seams_.env.workers](const result<>& outcome) {
                            auto failure =
                                outcome ? nullptr : std::make_exception_ptr(error(outcome.error()));
                            workers.post([posted, failure = std::move(failure)] {
                                posted->done(posted->sending.stored_as, failure);
                            });
                        },
                    .undone =
                        [posted](std::vector<outbox_row> rows) {
                            posted->sending.take_back(std::move(rows));
                        }});
}

result<node_core::expected_call> node_core::expect_response(detail::send_request asked) {
    if (options_.parts == node_parts::outbox)
        return fail(error_code::invalid_argument,
                    "this node has no inbox, so no response to {} could reach it; send it, or give "
                    "the node one with service.parts = \"both\"",
                    asked.endpoint);
    if (handlers_.has_response(asked.endpoint))
        return fail(error_code::invalid_argument,
                    "responses to {} go to their handler; send the command instead of waiting for "
                    "it, or remove the handler",
                    asked.endpoint);
    POSTHORN_LET(command, make_message(std::move(asked)));
    if (command.correlation_id.empty()) command.correlation_id = command.id.to_string();
    POSTHORN_LET(reply, replies_->expect(command.correlation_id, command.destination));
    return expected_call{std::move(command), std::move(reply)};
}

result<std::shared_ptr<detail::reply_state>> node_core::call(detail::send_request asked) {
    POSTHORN_LET(expected, expect_response(std::move(asked)));
    POSTHORN_TRY(store_message(std::move(expected.command)));
    return std::move(expected.reply);
}

result<std::shared_ptr<detail::reply_state>> node_core::post_call(detail::send_request asked) {
    POSTHORN_LET(expected, expect_response(std::move(asked)));
    auto id = expected.command.correlation_id;
    store_message_then(std::move(expected.command),
                       [this, id = std::move(id)](uuid, std::exception_ptr failure) {
                           if (failure) replies_->fail(id, std::move(failure));
                       });
    return std::move(expected.reply);
}

result<> node_core::durable(const uuid& id) {
    POSTHORN_TRY(require_outside_unit());
    bool visible = false;
    POSTHORN_TRY(store().read([&](store_reader& from) -> result<> {
        POSTHORN_LET(status, from.outbox().status(id));
        visible = status.has_value();
        return {};
    }));
    if (!visible)
        return fail(error_code::not_committed,
                    "message {} is not committed; commit its transaction first, or it was rolled "
                    "back",
                    id.to_string());
    std::promise<result<>> synced;
    store().barrier([&](result<> outcome) { synced.set_value(std::move(outcome)); });
    return synced.get_future().get();
}

result<bool> node_core::requeue(const uuid& id) {
    POSTHORN_TRY(require_outside_unit());
    // What handlers send is stored where they work.
    for (auto* const each : databases()) {
        POSTHORN_LET(requeued, requeue_in(each->store(), id));
        if (!requeued) continue;
        wake();
        return true;
    }
    return false;
}

result<bool> node_core::requeue_in(class store& where, const uuid& id) {
    bool requeued = false;
    std::promise<result<>> committed;
    where.submit({.work = [&](store_transaction& tx) -> result<> {
                      const auto changed = tx.dead_letters().change(
                          id, {.what = dead_action::requeue}, seams_.env.clock.wall());
                      requeued = changed.has_value();
                      const bool was_not_dead =
                          !changed && (changed.error().code() == error_code::state_changed ||
                                       changed.error().code() == error_code::not_found);
                      if (!changed && !was_not_dead) return std::unexpected(changed.error());
                      return {};
                  },
                  .done = [&](result<> outcome) { committed.set_value(std::move(outcome)); }});
    POSTHORN_TRY(committed.get_future().get());
    return requeued;
}

void node_core::try_now(std::string_view destination) {
    for (auto* const each : databases()) each->dispatcher().try_now(destination);
}
void node_core::try_silent() {
    for (auto* const each : databases())
        for (const auto& lane : each->dispatcher().counters().board.list()) {
            if (lane.mode != lane_mode::open && lane.mode != lane_mode::probing) continue;
            seams_.env.log.info("Outbox: {Destination} did not answer, and is tried at once",
                                {{"Destination", lane.destination}});
            each->dispatcher().try_now(lane.destination);
        }
}

result<bool> node_core::change_pause(pause_change wanted) {
    wanted.at = seams_.env.clock.wall();
    bool changed = false;
    for (auto* const each : databases()) {
        POSTHORN_LET(here, posthorn::change_pause(each->store(), wanted));
        changed |= here;
    }
    if (changed) wake();
    return changed;
}

result<node_stats> node_core::stats() {
    node_stats seen{.durable = options_.durable};
    const auto add = [&seen](store_reader& from) -> result<> {
        const auto outbox = from.outbox().counts();
        POSTHORN_TRY(outbox);
        const auto received = from.inbox().count();
        POSTHORN_TRY(received);
        seen.pending += outbox->pending;
        seen.sent += outbox->sent;
        seen.dead += outbox->dead;
        seen.expired += outbox->expired;
        seen.resolved += outbox->resolved;
        seen.received += *received;
        return {};
    };
    for (auto* const each : databases()) POSTHORN_TRY(each->store().read(add));
    if (inbox_) seen.duplicates = static_cast<std::int64_t>(inbox_->counts().duplicates);
    return seen;
}

}  // namespace posthorn
