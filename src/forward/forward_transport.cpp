#include "forward/forward_transport.hpp"

#include <array>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/async/cancellation.hpp"
#include "base/async/waiter.hpp"
#include "base/planted.hpp"
#include "forward/audit/audit_rows.hpp"
#include "forward/forward_terms.hpp"
#include "store/settle_rider.hpp"
#include "store/user_transaction.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

/// What a handler said.
delivery run_handler(const forward_function& by, const forward_message& work) {
    try {
        if (by(work)) return {.what = outcome::delivered};
        return {.what = outcome::permanent, .error = "its handler refused it for good"};
    } catch (const throttled& asks) {
        return {.what = outcome::throttled, .error = asks.what(), .retry_after = asks.wait()};
    } catch (const unreachable& gone) {
        return {.what = outcome::unanswered,
                .error = fmt::format("{} cannot be reached: {}", work.target, gone.what())};
    } catch (const std::exception& failed) {
        return {.what = outcome::transient, .error = failed.what()};
    } catch (...) {
        return {.what = outcome::transient, .error = "its handler threw something unknown"};
    }
}

/// Records an attempt beside what becomes of the message, tells the observer in the same
/// transaction, and then the caller who waits for it.
class attempt_record final : public detail::settle_rider {
public:
    struct about {
        forward_message work;
        forward_terms terms;
        std::int32_t failed = 0;  // Before this attempt.
        bool tracked = false;
        bool refused = false;  // For good.
        std::optional<std::int64_t> http_status{};
        wall_time began{};
        std::chrono::milliseconds took{};
        std::shared_ptr<first_attempt> awaited{};
    };

    attempt_record(about what, const forward_transport::deps& with)
        : what_(std::move(what)), with_(with) {}

    // The interval is the work's own. What is refused while its caller waits to be told is not kept.
    // Where none waits it counts as held, and is parked: else it would go without a word.
    void amend(const outbox_row& /*row*/, settlement& to) override {
        if (to.to == outbox_status::pending && to.charged)
            to.next_attempt_at = to.at + what_.terms.interval;
        if (to.to == outbox_status::dead && what_.refused && what_.awaited) {
            to.to = outbox_status::resolved;
            to.resolution = "refused: " + to.error;
        }
    }

    // Of what was closed meanwhile there is nothing to record, and nothing to tell.
    result<> ride(store_transaction& tx, const settlement& to) override {
        if (POSTHORN_PLANTED(tracked_apart)) return {};
        POSTHORN_LET(held, record(tx, to));
        was_held_ = held;
        if (!was_held_) return {};
        if (what_.tracked) POSTHORN_TRY(write_audit(tx, attempt(to)));
        POSTHORN_TRY(tell_centre(tx, to));
        return tell_observer(tx, to);
    }

    void landed(const settlement& to) override {
        if (was_held_) tell_desk(to);
        if (POSTHORN_PLANTED(tracked_apart)) {
            auto later = std::make_shared<attempt_record>(*this);
            with_.desk.where().submit({.work = [later, to](store_transaction& tx) -> result<> {
                                           POSTHORN_TRY(later->record(tx, to));
                                           return {};
                                       },
                                       .done = [](const result<>&) {}});
        }
        if (!what_.awaited) return;
        const bool refused = to.to == outbox_status::resolved;
        what_.awaited->tell({.id = what_.work.id,
                             .accepted = was_held_ && !refused,
                             .buffered = was_held_ && !refused && to.to != outbox_status::sent,
                             .error = refused     ? to.error
                                      : was_held_ ? std::string()
                                                  : "it was closed before its attempt ended"});
    }

    [[nodiscard]] bool rides_otherwise() override { return std::exchange(just_failed_, false); }
    [[nodiscard]] bool is_awaited() const override { return what_.awaited != nullptr; }

private:
    void tell_desk(const settlement& to) {
        switch (to.to) {
            case outbox_status::sent: ++with_.counters.delivered; break;
            case outbox_status::pending: with_.counters.retried += to.charged ? 1 : 0; break;
            case outbox_status::resolved: ++with_.counters.refused; break;
            case outbox_status::dead:
            case outbox_status::expired: ++with_.counters.parked; break;
        }
        if (const auto name = activity(to.to); !name.empty())
            with_.desk.tell({.what = std::string(name),
                             .id = what_.work.id,
                             .category = what_.work.category,
                             .target = what_.work.target,
                             .error = to.error});
    }

    [[nodiscard]] std::int32_t retries_after(const settlement& to) const {
        const auto attempts = what_.failed + (to.charged ? 1 : 0);
        if (POSTHORN_PLANTED(first_attempt_counted)) return attempts;
        return forward_retries(attempts, what_.terms.attempts_first);
    }

    /// False if it is not held any more.
    result<bool> record(store_transaction& tx, const settlement& to) const {
        if (to.to == outbox_status::sent) {
            if (what_.http_status) {
                const std::array<sql_param, 2> said{*what_.http_status, to.seq};
                POSTHORN_TRY(
                    tx.execute("UPDATE forward_messages SET http_status = ? WHERE seq = ?"
                               " AND status = 0",
                               said));
            }
            const std::array<sql_param, 1> which{to.seq};
            POSTHORN_LET(gone, tx.execute("DELETE FROM forward_messages WHERE seq = ?"
                                          " AND status = 0",
                                          which));
            if (POSTHORN_PLANTED(totals_not_lowered))
                POSTHORN_TRY(tx.execute("UPDATE forward_totals SET waiting = waiting + 1", {}));
            return gone > 0;
        }
        const std::array<sql_param, 5> with{
            std::int64_t{retries_after(to)}, to.at.time_since_epoch().count(),
            std::string_view(to.error),
            what_.http_status ? sql_param(*what_.http_status) : sql_param(nullptr), to.seq};
        POSTHORN_LET(changed,
                     tx.execute("UPDATE forward_messages SET retry_count = ?, last_attempt_at = ?,"
                                " last_error = ?, http_status = coalesce(?, http_status)"
                                " WHERE seq = ? AND status = 0",
                                with));
        return changed > 0;
    }

    result<> tell_centre(store_transaction& tx, const settlement& to) const {
        if (with_.centre == nullptr || !what_.tracked) return {};
        const auto seen = attempt(to);
        return with_.centre->tell(tx, standing_after(seen, to.to, to.at), seen);
    }

    // If it throws, all of this is undone and done again without it.
    result<> tell_observer(store_transaction& tx, const settlement& to) {
        const auto& told = with_.desk.observer();
        if (!told || !what_.tracked || is_left_out_) return {};
        user_transaction seen(tx, with_.maker);
        try {
            told(seen, attempt(to));
            if (seen.intact()) return {};
        } catch (...) {  // Counted below.
        }
        is_left_out_ = just_failed_ = true;
        ++with_.counters.unobserved;
        return fail(error_code::statement_failed, "the observer of attempts failed");
    }

    [[nodiscard]] forward_attempt attempt(const settlement& to) const {
        const auto& work = what_.work;
        return {.id = work.id,
                .channel = work.category == "CachedDbWrite" ? "DbOutbound" : "ApiOutbound",
                .category = work.category,
                .target = work.target,
                .source_site = with_.desk.defaults().site,
                .outcome = std::string(outcome_of(to)),
                .retry_count = retries_after(to),
                .last_error = to.error,
                .http_status = what_.http_status,
                .created_at = work.created_at,
                .occurred_at = what_.began,
                .duration = what_.took,
                .source_instance = work.origin_instance,
                .execution_id = work.execution_id,
                .source_script = work.source_script,
                .parent_execution_id = work.parent_execution_id};
    }

    // Refused for good, or spent: both end as dead.
    [[nodiscard]] std::string_view outcome_of(const settlement& to) const {
        switch (to.to) {
            case outbox_status::sent: return "Delivered";
            case outbox_status::pending: return "TransientFailure";
            case outbox_status::dead:
                return what_.refused ? "PermanentFailure" : "ParkedMaxRetries";
            case outbox_status::resolved: return "PermanentFailure";
            case outbox_status::expired: break;
        }
        return "ParkedMaxRetries";
    }

    [[nodiscard]] static std::string_view activity(outbox_status to) {
        switch (to) {
            case outbox_status::sent: return "Delivered";
            case outbox_status::pending: return "Retried";
            case outbox_status::dead:
            case outbox_status::expired: return "Parked";
            case outbox_status::resolved: break;
        }
        return {};
    }

    about what_;
    forward_transport::deps with_;
    bool was_held_ = true;      // As the last transaction saw it.
    bool is_left_out_ = false;  // The observer, after it has thrown.
    bool just_failed_ = false;
};

}  // namespace

task<std::vector<delivery>> forward_transport::deliver(message_batch batch) {
    std::vector<std::int32_t> none(batch.size(), 0);
    co_return co_await deliver_again(std::move(batch), std::move(none));
}

task<std::vector<delivery>> forward_transport::deliver_again(message_batch batch,
                                                             std::vector<std::int32_t> failed) {
    std::vector<delivery> answers;
    for (std::size_t i = 0; i < batch.size(); ++i)
        answers.push_back(co_await deliver_one(*batch[i], failed[i]));
    co_return answers;
}

task<delivery> forward_transport::deliver_one(const message& work, std::int32_t failed) {
    const auto to = forward_place_of(work.destination);
    const auto* const by = to ? with_.desk.find(to->category) : nullptr;
    if (by == nullptr)
        co_return delivery{
            .what = outcome::undeliverable,
            .error = fmt::format("no handler for category {}; register one before the node starts",
                                 to ? to->category : std::string_view("?"))};
    auto terms = read_forward_terms(work.headers);
    const forward_message given{.id = work.id,
                                .category = std::string(to->category),
                                .target = std::string(to->target),
                                .payload = work.payload,
                                .retry_count = forward_retries(failed, terms.attempts_first),
                                .created_at = work.created_at,
                                .origin_instance = terms.origin_instance,
                                .execution_id = terms.execution_id,
                                .source_script = terms.source_script,
                                .parent_execution_id = terms.parent_execution_id};
    const auto began = with_.env.clock.wall();
    const auto since = with_.env.clock.steady();
    auto ended = co_await call(*by, given);
    with_.desk.note(work.destination, ended && ended->what.what != outcome::unanswered);
    if (!ended)
        co_return delivery{.what = outcome::unanswered,
                           .error = "its handler was not done in time"};
    auto answer = std::move(ended->what);
    answer.rider = std::make_shared<attempt_record>(
        attempt_record::about{
            .work = given,
            .terms = std::move(terms),
            .failed = failed,
            .tracked = by->how.tracked,
            .refused = answer.what == outcome::permanent,
            .http_status = ended->http_status,
            .began = began,
            .took = std::chrono::duration_cast<milliseconds>(with_.env.clock.steady() - since),
            .awaited = with_.desk.take(work.id)},
        with_);
    co_return answer;
}

task<std::optional<asked_outcome>> forward_transport::call(const forward_handler& by,
                                                           forward_message work) {
    if (by.ask) {
        auto asked = co_await by.ask(std::move(work));
        if (co_await is_cancelled()) co_return std::nullopt;
        co_return asked;
    }
    // A handler may go on after its time is over, when the message is gone.
    struct running {
        forward_message work;
        asked_outcome ended;
        std::shared_ptr<waiter> done = waiter::make();
    };
    const auto one = std::make_shared<running>();
    one->work = std::move(work);
    with_.env.workers.post([one, &by, with = with_] {
        one->ended.what = run_handler(by.run, one->work);
        if (one->done->wake()) return;
        ++with.counters.late;
        with.desk.tell({.what = "Late",
                        .id = one->work.id,
                        .category = one->work.category,
                        .target = one->work.target,
                        .error = one->ended.what.error});
    });
    if (!co_await one->done->wait()) co_return std::nullopt;
    co_return std::move(one->ended);
}

transport* forward_ways::find(std::string_view destination) {
    return forward_place_of(destination) ? &to_ : nullptr;
}

std::optional<route_limits> forward_ways::limits(std::string_view destination) const {
    const auto to = forward_place_of(destination);
    if (!to) return std::nullopt;
    const auto* const by = desk_.find(to->category);
    const auto interval = by != nullptr && by->how.retry_interval ? *by->how.retry_interval
                                                                  : desk_.defaults().retry_interval;
    return route_limits{
        .window = 8,
        .batch = 1,
        .timeout = by != nullptr ? by->how.timeout : milliseconds(std::chrono::seconds{30}),
        .retries = std::make_shared<const retry_policy>(fixed_backoff{.delay = interval}),
        .replay = desk_.defaults().replay};
}

}  // namespace posthorn
