#include "workflow/runner/supervised_runner.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/async/run_on.hpp"
#include "workflow/runner/batch_blame.hpp"
#include "workflow/runner/step_check.hpp"

namespace posthorn {
namespace {

std::vector<std::uint64_t> keys_of(std::span<const runner_work> work) {
    std::vector<std::uint64_t> keys;
    keys.reserve(work.size());
    for (const auto& each : work) keys.push_back(each.key);
    return keys;
}

bool keeps_frame(const completion& one) {
    switch (one.kind) {
        case completion_kind::repeated:
        case completion_kind::ignored:
        case completion_kind::unfit: return true;
        case completion_kind::stepped:
            return one.step.status == flow_status::running && one.step.next_run() == nullptr;
        case completion_kind::stale:
        case completion_kind::differs:
        case completion_kind::unknown:
        case completion_kind::damaged: break;
    }
    return false;
}

}  // namespace

result<std::vector<runner_outcome>> supervised_runner::run(std::span<const runner_work> work) {
    std::map<std::uint64_t, const runner_work*> by_key;
    std::map<std::uint64_t, runner_outcome> outcomes;
    for (const auto& each : work) {
        if (!by_key.emplace(each.key, &each).second)
            return fail(error_code::invalid_argument, "a batch has the key {} twice", each.key);
        outcomes[each.key].key = each.key;
    }
    batch_blame blame(keys_of(work));
    while (!blame.next().empty()) {
        POSTHORN_TRY(be_ready());
        std::vector<const runner_work*> some;
        for (const auto key : blame.next()) some.push_back(by_key.at(key));
        auto answered = ask(some);
        if (!answered) {
            for (const auto* each : some) outcomes[each->key].fault = answered.error().what();
            lose();
            blame.fell();
            continue;
        }
        for (auto& one : *answered) {
            note(one);
            auto& outcome = outcomes[one.key];
            outcome.fault.clear();
            outcome.answered = std::move(one);
        }
        blame.answered();
    }
    std::vector<runner_outcome> all;
    for (const auto& each : work) all.push_back(std::move(outcomes[each.key]));
    return all;
}

task<result<std::vector<runner_outcome>>> supervised_runner::run(executor& where,
                                                                 std::vector<runner_work> work) {
    co_return co_await run_on(where, [&] { return run(work); });
}

void supervised_runner::release(std::uint64_t key) {
    if (kept_.erase(key) != 0) released_.push_back(key);
}

result<> supervised_runner::be_ready() {
    if (runner_ != nullptr) return {};
    POSTHORN_LET(started, start_());
    runner_ = std::move(started);
    ++starts_;
    return {};
}

result<std::vector<completion>> supervised_runner::ask(std::span<const runner_work* const> some) {
    runner_batch batch{.released = std::exchange(released_, {})};
    for (const auto* each : some) batch.activations.push_back(each->tell(!has_frame(each->key)));
    POSTHORN_LET(body, runner_->exchange(encode_batch(batch), terms_.batch_within));
    POSTHORN_LET(all, decode_completions(body, names_));
    if (const auto lie = find_lie(batch, all))
        return fail(error_code::malformed_request, "the runner lies: {}", *lie);
    return std::move(all);
}

void supervised_runner::note(const completion& one) {
    if (keeps_frame(one))
        kept_.insert(one.key);
    else
        kept_.erase(one.key);
}

void supervised_runner::lose() {
    runner_.reset();
    kept_.clear();
    released_.clear();
}

}  // namespace posthorn
