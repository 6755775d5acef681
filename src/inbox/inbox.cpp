#include "inbox/inbox.hpp"

#include <utility>

#include "base/assert.hpp"
#include "base/planted.hpp"
#include "base/task_group.hpp"
#include "base/waiter.hpp"
#include "inbox/answers.hpp"
#include "inbox/body_hash.hpp"
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

inbox::inbox(inbox_parts parts, inbox_options options)
    : parts_(parts),
      guard_(parts.time, options.clock),
      intake_(parts.maker, parts.time, guard_, options.intake),
      purge_({parts.database, parts.time, guard_, parts.sleeper, parts.log}, options.purge) {
    POSTHORN_ASSERT(parts.registry.frozen());
}

task<std::vector<delivery>> inbox::receive(message_batch batch) {
    const auto begun = parts_.time.steady();
    const auto flying = admit(batch);
    auto& arrivals = flying->arrivals;
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

    std::vector<delivery> answers;
    answers.reserve(arrivals.size());
    std::uint64_t processed = 0;
    for (auto& one : arrivals) {
        report(one);
        if (one.answer.what == outcome::delivered && !one.answer.duplicate) ++processed;
        answers.push_back(std::move(one.answer));
    }
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(parts_.time.steady() - begun);
    if (processed > 0) durations_us_.record(static_cast<std::uint64_t>(took.count()), processed);
    co_return answers;
}

/// Finds the handlers and answers those messages that have none.
std::shared_ptr<inbox::flight> inbox::admit(const message_batch& batch) {
    auto flying = std::make_shared<flight>();
    flying->arrivals.reserve(batch.size());
    for (const auto* const what : batch) {
        auto& one = flying->arrivals.emplace_back();
        one.what = what;
        one.by = parts_.registry.find(*what);
        if (what->source.empty() || what->id.is_nil()) {
            one.settle(answer_without_key());
        } else if (one.by == nullptr) {
            one.settle(answer_no_handler(*what));
        } else {
            one.hash = hash_body(*what);
            if (!one.by->is_transactional()) one.claim_owner = parts_.ids.next().to_string();
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
    parts_.database.submit(std::move(units));
}

/// After a crash the database may show commits that were not on disk yet when the process died. A
/// repeat must not be acknowledged on the strength of such a row, which a power cut could still
/// take away, so one sync comes before the first answer.
task<result<>> inbox::sync_what_was_recovered() {
    if (!synced_ && !POSTHORN_PLANTED(recovered_rows_unsynced)) {
        POSTHORN_CO_TRY(co_await barrier(parts_.database));
        synced_ = true;
    }
    co_return result<>{};
}

void inbox::report(const arrival& one) {
    const logger::fields names{{"MessageId", one.what->id}, {"SourceServiceId", one.what->source}};
    const auto& answer = one.answer;
    count(answer);
    if (answer.what == outcome::delivered && !answer.duplicate) {
        parts_.log.info("Inbox:  Message {MessageId} processed from {SourceServiceId}", names);
    } else if (answer.duplicate) {
        parts_.log.warn("Inbox:  Duplicate {MessageId} detected from {SourceServiceId}", names);
    } else {
        parts_.log.warn("Inbox:  Message {MessageId} from {SourceServiceId} not taken in: {Error}",
                        {{"MessageId", one.what->id},
                         {"SourceServiceId", one.what->source},
                         {"Error", one.cause.empty() ? answer.error : one.cause}});
    }
    if (POSTHORN_PLANTED(payload_in_the_log))
        parts_.log.warn("Inbox:  It said {Payload}", {{"Payload", one.what->payload}});
}

void inbox::count(const delivery& answer) {
    if (answer.what == outcome::delivered) {
        ++(answer.duplicate ? duplicates_ : processed_);
    } else if (answer.code == error_code::body_differs) {
        ++conflicts_;
    } else if (answer.code == error_code::no_handler ||
               answer.code == error_code::message_expired ||
               answer.code == error_code::invalid_argument) {
        ++refused_;
    } else if (answer.what != outcome::throttled || answer.code) {
        ++failed_;  // Not counted is what waits for another's claim: it will come again.
    }
}

inbox_counts inbox::counts() const {
    return {.processed = processed_,
            .duplicates = duplicates_,
            .failed = failed_,
            .conflicts = conflicts_,
            .refused = refused_};
}

}  // namespace posthorn
