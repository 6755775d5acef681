#include "inbox/inbox.hpp"

#include <exception>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "base/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "base/async/waiter.hpp"
#include "base/async/with_timeout.hpp"
#include "base/planted.hpp"
#include "inbox/answers.hpp"
#include "inbox/body_hash.hpp"
#include "inbox/handle_trace.hpp"
#include "store/async.hpp"

namespace posthorn {

/// A batch on its way through the store. Shared with the units, which answer on another thread.
struct inbox::flight {
    std::vector<arrival> arrivals;
    std::atomic<std::size_t> units_left = 0;
    std::shared_ptr<waiter> landed = waiter::make();

    void land(arrival& one, result<> committed) {
        one.committed = std::move(committed);
        if (units_left.fetch_sub(1, std::memory_order_acq_rel) == 1) landed->wake();
    }
};

inbox::inbox(inbox_deps with, inbox_options options)
    : with_(with),
      guard_(with.env.clock, options.clock),
      intake_(with.maker, with.env.clock, guard_, options.intake),
      purge_(with.env, with.database, guard_,
             {.interval = options.purge.interval,
              .slices = options.purge.slices,
              .horizon = options.intake.horizon}) {
    POSTHORN_ASSERT(with.registry.frozen());
}

task<std::vector<delivery>> inbox::receive(message_batch batch) {
    const auto begun = with_.env.clock.steady();
    const auto flying = admit(batch);
    auto& arrivals = flying->arrivals;
    auto* const traces = tracing(with_.env.traces);
    if (traces != nullptr) begin_handle_spans(*traces, arrivals);
    if (const auto synced = co_await sync_what_was_recovered(); !synced) {
        for (auto& one : arrivals)
            if (!one.answered) one.settle_by_store(synced.error());
    } else if (flying->units_left > 0) {
        submit(flying);
        co_await flying->landed->wait_regardless();
    }

    std::vector<task<>> claimed;
    for (auto& one : arrivals) {
        if (one.is_void())
            one.settle_by_store(one.committed.error());
        else if (one.claimed)
            claimed.push_back(run_claimed(one));
    }
    co_await run_all(std::move(claimed));

    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(with_.env.clock.steady() - begun);
    count_endpoints(arrivals, static_cast<std::uint64_t>(took.count()));
    if (traces != nullptr) end_handle_spans(*traces, arrivals);
    std::vector<delivery> answers;
    answers.reserve(arrivals.size());
    std::uint64_t processed = 0;
    for (auto& one : arrivals) {
        report(one);
        if (one.answer.what == outcome::delivered && !one.answer.duplicate) {
            ++processed;
            if (one.by->arrived) one.by->arrived(*one.what);
        }
        answers.push_back(std::move(one.answer));
    }
    if (processed > 0) durations_us_.record(static_cast<std::uint64_t>(took.count()), processed);
    co_return answers;
}

/// Those of a batch that follow each other with one endpoint are counted at once.
void inbox::count_endpoints(const std::vector<arrival>& arrivals, std::uint64_t took_us) {
    const auto name_of = [](const arrival& one) {
        return one.by != nullptr ? std::string_view(one.what->endpoint)
                                 : counts_of_endpoints::other;
    };
    for (auto one = arrivals.begin(); one != arrivals.end();) {
        const auto name = name_of(*one);
        endpoint_counts counted;
        for (; one != arrivals.end() && name_of(*one) == name; ++one) {
            const auto& answer = one->answer;
            if (answer.duplicate)
                ++counted.duplicates;
            else if (answer.what == outcome::delivered)
                ++counted.processed;
            else if (answer.what != outcome::throttled || answer.code)
                ++counted.failed;  // As `count` has it.
        }
        counted.took[duration_part(took_us)] = counted.processed;
        endpoints_.add(name, counted);
    }
}

/// Finds the handlers and answers those messages that have none.
std::shared_ptr<inbox::flight> inbox::admit(const message_batch& batch) {
    auto flying = std::make_shared<flight>();
    flying->arrivals.reserve(batch.size());
    for (const auto* const what : batch) {
        auto& one = flying->arrivals.emplace_back();
        one.what = what;
        one.by = with_.registry.find(*what);
        if (what->source.empty() || what->id.is_nil()) {
            one.settle(answer_without_key());
        } else if (one.by == nullptr) {
            one.settle(answer_no_handler(*what));
        } else {
            one.hash = hash_body(*what);
            if (!one.by->is_transactional()) one.claim_owner = with_.ids.next().to_string();
            ++flying->units_left;
        }
    }
    return flying;
}

void inbox::submit(const std::shared_ptr<flight>& flying) {
    std::vector<unit> units;
    units.reserve(flying->units_left);
    for (auto& one : flying->arrivals) {
        if (one.answered) continue;
        const bool transactional = one.by->is_transactional();
        unit added{.work =
                       [this, flying, &one, transactional](store_transaction& tx) {
                           auto done =
                               transactional ? intake_.handle(tx, one) : intake_.claim(tx, one);
                           if (POSTHORN_PLANTED(ack_before_commit)) flying->land(one, done);
                           return done;
                       },
                   .done =
                       [flying, &one](result<> committed) {
                           if (!POSTHORN_PLANTED(ack_before_commit))
                               flying->land(one, std::move(committed));
                       }};
        if (transactional) {
            added.limit = one.by->limit;
            added.inserts_first = [this, &one] { return intake_.begins_with(one); };
        }
        units.push_back(std::move(added));
    }
    with_.database.submit(std::move(units));
}

/// After a crash the database may show commits that were not on disk yet when the process died. A
/// repeat must not be acknowledged on the strength of such a row, which a power cut could still
/// take away, so one sync comes before the first answer.
task<result<>> inbox::sync_what_was_recovered() {
    if (!synced_ && !POSTHORN_PLANTED(recovered_rows_unsynced)) {
        POSTHORN_CO_TRY(co_await barrier(with_.database));
        synced_ = true;
    }
    co_return result<>{};
}

void inbox::report(const arrival& one) {
    const logger::fields names{{"MessageId", one.what->id}, {"SourceServiceId", one.what->source}};
    const auto& answer = one.answer;
    count(answer);
    note_message(one);
    note_failure(one);
    if (answer.what == outcome::delivered && !answer.duplicate) {
        with_.env.log.info("Inbox:  Message {MessageId} processed from {SourceServiceId}", names);
    } else if (answer.duplicate) {
        with_.env.log.warn("Inbox:  Duplicate {MessageId} detected from {SourceServiceId}", names);
    } else {
        with_.env.log.warn(
            "Inbox:  Message {MessageId} from {SourceServiceId} not taken in: {Error}",
            {{"MessageId", one.what->id},
             {"SourceServiceId", one.what->source},
             {"Error", one.cause.empty() ? answer.error : one.cause}});
    }
    if (POSTHORN_PLANTED(payload_in_the_log))
        with_.env.log.warn("Inbox:  It said {Payload}", {{"Payload", one.what->payload}});
}

void inbox::count(const delivery& answer) {
    if (answer.what == outcome::delivered) {
        ++(answer.duplicate ? duplicates_ : processed_);
    } else if (answer.code == error_code::id_reused) {
        ++conflicts_;
    } else if (answer.code == error_code::no_handler ||
               answer.code == error_code::message_expired ||
               answer.code == error_code::invalid_argument) {
        ++refused_;
    } else if (answer.what != outcome::throttled || answer.code) {
        ++failed_;  // Not counted is what waits for another's claim: it will come again.
    }
}

// What waits for another's claim has not failed: it will come again.
void inbox::note_message(const arrival& one) {
    const auto& answer = one.answer;
    if (answer.what == outcome::delivered)
        return failed_messages_.succeeded(one.what->source, one.what->id);
    if (answer.what == outcome::throttled && !answer.code) return;
    failed_messages_.failed({.id = one.what->id,
                             .source = one.what->source,
                             .endpoint = one.what->endpoint,
                             .why = one.cause.empty() ? answer.error : one.cause,
                             .code = answer.code},
                            with_.env.clock.wall());
}

// What is wrong with one message says nothing of its endpoint, nor does a store that fails as a whole,
// which health tells of by itself.
void inbox::note_failure(const arrival& one) {
    const auto& answer = one.answer;
    if (answer.what == outcome::delivered)
        return answer.duplicate ? void() : failures_.succeeded(one.what->endpoint);
    const bool handler_failed = !answer.code && answer.what != outcome::throttled;
    if (!handler_failed && answer.code != error_code::no_handler &&
        answer.code != error_code::handler_unreachable && answer.code != error_code::store_busy)
        return;
    failures_.failed({.name = one.what->endpoint,
                      .with = one.what->source,
                      .why = one.cause.empty() ? answer.error : one.cause,
                      .code = answer.code},
                     with_.env.clock.wall());
}

inbox_counts inbox::counts() const {
    return {.processed = processed_,
            .duplicates = duplicates_,
            .failed = failed_,
            .conflicts = conflicts_,
            .refused = refused_};
}

// The inbox's way for handlers that work outside of the database.

task<> inbox::run_claimed(arrival& one) {
    auto called = co_await call(one);
    const auto size_max = intake_.options().response_size_max;
    if (called && called->size() > size_max)
        called = std::unexpected(answer_response_too_large(called->size(), size_max));

    if (!called) {
        // If this fails too, the claim runs out by itself.
        const auto released = co_await commit(with_.database, [&one](store_transaction& tx) {
            auto given_up = tx.inbox().release(one.key(), one.claim_owner);
            return given_up ? result<>{} : result<>(std::unexpected(given_up.error()));
        });
        if (!released)
            with_.env.log.warn("Inbox:  Claim on {MessageId} not given up: {Error}",
                               {{"MessageId", one.what->id}, {"Error", released.error().what()}});
        one.settle(std::move(called).error());
        co_return;
    }
    const auto completed = co_await commit(
        with_.database, [this, &one, response = std::string_view(*called)](store_transaction& tx) {
            return intake_.complete(tx, one, response);
        });
    if (!completed)
        one.settle_by_store(completed.error());
    else if (!one.answered)
        one.settle({.what = outcome::delivered, .payload = *std::move(called)});
}

task<inbox::outcome_of_call> inbox::call(const arrival& one) {
    if (std::holds_alternative<blocking_handler>(one.by->run))
        co_return co_await call_blocking(one);
    co_return co_await call_async(one);
}

task<inbox::outcome_of_call> inbox::call_blocking(const arrival& one) {
    struct pending {
        outcome_of_call value;
        std::shared_ptr<waiter> ended = waiter::make();
    };
    const auto running = std::make_shared<pending>();
    with_.env.workers.post([running, &one] {
        try {
            running->value = std::get<blocking_handler>(one.by->run)(one.handled());
        } catch (...) {
            running->value = std::unexpected(answer_to_exception(std::current_exception()));
        }
        running->ended->wake();
    });
    co_await running->ended->wait_regardless();
    co_return std::move(running->value);
}

task<inbox::outcome_of_call> inbox::call_async(const arrival& one) {
    using namespace boost::asio::experimental::awaitable_operators;
    const calls_at_work::place place(at_work_);
    // When told to give up, this cancels the call and waits until it has ended.
    auto first = co_await (cancellable(call_within_lease(one)) || cancellable(place.told().wait()));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::unexpected(answer_to_handler_error(
        error(error_code::cancelled, "the node stops before the handler has finished")));
}

namespace {

task<result<std::string>> note_verdict(task<result<std::string>> call,
                                       std::optional<error>& verdict) {
    auto ended = co_await std::move(call);
    if (!ended) verdict = ended.error();
    co_return ended;
}

}  // namespace

task<inbox::outcome_of_call> inbox::call_within_lease(const arrival& one) {
    try {
        // A handler that calls elsewhere keeps the same time, and says what its lateness means, such
        // as a web service that was not reached: that counts, whichever timer was the first.
        std::optional<error> verdict;
        auto response = co_await with_timeout(
            with_.env.timer, one.by->lease,
            note_verdict(std::get<async_handler>(one.by->run)(one.handled()), verdict));
        if (response) co_return *std::move(response);
        if (verdict && verdict->code() == error_code::handler_unreachable)
            co_return std::unexpected(answer_to_handler_error(*verdict));
        co_return std::unexpected(answer_to_handler_error(response.error()));
    } catch (...) {
        co_return std::unexpected(answer_to_exception(std::current_exception()));
    }
}

}  // namespace posthorn
