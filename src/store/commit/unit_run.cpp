#include "store/commit/unit_run.hpp"

#include <exception>

#include "store/inside_unit.hpp"

namespace posthorn {
namespace {

std::int64_t to_ns(steady_time time) { return time.time_since_epoch().count(); }

}  // namespace

result<> unit_run::operator()(unit& one, store_transaction& transaction, steady_time now) {
    started_ns_.store(to_ns(now), std::memory_order_relaxed);
    const inside_unit_mark mark;
    result<> outcome;
    try {
        outcome = one.work(transaction);
    } catch (const error& thrown) {
        outcome = std::unexpected(thrown);
    } catch (const std::exception& thrown) {
        outcome = fail(error_code::statement_failed, "the unit threw: {}", thrown.what());
    } catch (...) {
        outcome = fail(error_code::statement_failed, "the unit threw something unknown");
    }
    started_ns_.store(0, std::memory_order_relaxed);
    return outcome;
}

std::chrono::nanoseconds unit_run::age() const {
    const std::int64_t started = started_ns_.load(std::memory_order_relaxed);
    return std::chrono::nanoseconds{started == 0 ? 0 : to_ns(time_.steady()) - started};
}

result<> look_safely(const std::function<result<>(store_reader&)>& look, store_reader& at) {
    try {
        return look(at);
    } catch (const std::exception& thrown) {
        return fail(error_code::statement_failed, "the reader threw: {}", thrown.what());
    }
}

}  // namespace posthorn
