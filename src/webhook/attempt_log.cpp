#include "webhook/attempt_log.hpp"

#include <utility>

#include "base/async/cancellation.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr auto cleaning_interval = std::chrono::hours{1};
constexpr std::int64_t rows_at_once = 1'000;

}  // namespace

void attempt_log::add(webhook_attempt one) {
    if (waiting_.size() >= options_.waiting_max) {
        ++lost_;
        return;
    }
    waiting_.push_back(std::move(one));
    arrived_.ring();
}

task<> attempt_log::run() {
    while (!co_await is_cancelled()) {
        co_await write_waiting();
        co_await clean_up();
        co_await arrived_.wait_for(env_.timer, cleaning_interval);
    }
    co_await write_waiting();
}

task<> attempt_log::write_waiting() {
    while (!waiting_.empty()) {
        auto some = std::exchange(waiting_, {});
        if (some.size() > options_.rows_in_unit) {
            const auto rest = some.begin() + static_cast<std::ptrdiff_t>(options_.rows_in_unit);
            waiting_.assign(std::make_move_iterator(rest), std::make_move_iterator(some.end()));
            some.erase(rest, some.end());
        }
        const auto written = co_await commit(
            where_, [&some](store_transaction& tx) { return insert_attempts(tx, some); });
        if (!written) {
            lost_ += some.size();
            env_.log.warn("Webhooks: {Count} attempts could not be written down: {Error}",
                          {{"Count", some.size()}, {"Error", written.error().what()}});
        }
    }
}

task<> attempt_log::clean_up() {
    const auto now = env_.clock.steady();
    if (cleaned_at_ && now - *cleaned_at_ < cleaning_interval) co_return;
    cleaned_at_ = now;
    const auto before = env_.clock.wall() - options_.kept;
    for (std::int64_t gone = rows_at_once; gone == rows_at_once;) {
        const auto done = co_await commit(where_, [&](store_transaction& tx) -> result<> {
            POSTHORN_LET(some, delete_attempts_before(tx, before, rows_at_once));
            gone = some;
            return {};
        });
        if (!done) gone = 0;
    }
}

}  // namespace posthorn
