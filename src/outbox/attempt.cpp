#include "outbox/attempt.hpp"

#include <exception>
#include <utility>

#include "base/planted.hpp"
#include "base/with_timeout.hpp"

namespace posthorn {
namespace {

// One whose answers are an error value too, as a time-out wants it.
task<result<std::vector<delivery>>> ask(transport& wire, message_batch batch) {
    try {
        co_return co_await wire.deliver(std::move(batch));
    } catch (const std::exception& broken) {  // Against its contract, but ours to survive.
        co_return fail(error_code::io_failed, "the transport failed: {}", broken.what());
    }
}

}  // namespace

delivery failure(std::string why, outcome what) {
    return {.what = what,
            .duplicate = false,
            .payload = {},
            .error = std::move(why),
            .retry_after = {}};
}

task<std::vector<delivery>> attempt(transport& wire, timer& time, std::chrono::milliseconds timeout,
                                    const std::vector<outbox_row>& rows) {
    message_batch batch;
    batch.reserve(rows.size());
    for (const auto& row : rows) batch.push_back(&row.body);
    auto answers = co_await with_timeout(time, timeout, ask(wire, std::move(batch)));
    if (!answers) {
        const bool late = answers.error().code() == error_code::timed_out;
        auto missed = failure(late ? std::string("timed out: ") + answers.error().what()
                                   : std::string(answers.error().what()));
        missed.code = answers.error().code();
        if (POSTHORN_PLANTED(settle_before_ack)) missed.what = outcome::delivered;
        co_return std::vector<delivery>(rows.size(), missed);
    }
    answers->resize(rows.size(), failure("the answer left this message out"));
    co_return *std::move(answers);
}

}  // namespace posthorn
