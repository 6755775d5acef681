#include "outbox/lane/attempt.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/planted.hpp"
#include "base/text/http_url.hpp"

namespace posthorn {
namespace {

task<result<std::vector<delivery>>> ask(transport& wire, message_batch batch,
                                        std::vector<std::int32_t> failed) {
    try {
        co_return co_await wire.deliver_again(std::move(batch), std::move(failed));
    } catch (const std::exception& broken) {  // Against its contract, but ours to survive.
        co_return fail(error_code::io_failed, "the transport failed: {}", broken.what());
    }
}

/// The same in other words, from a transport that has but these.
bool is_silence(const delivery& answer) {
    return answer.what == outcome::transient &&
           (answer.code == error_code::unreachable || answer.code == error_code::timed_out ||
            answer.code == error_code::cancelled);
}

std::vector<delivery> all_missed(std::size_t rows, const error& why) {
    auto missed = failure(why.what(), outcome::unanswered);
    missed.code = why.code();
    if (POSTHORN_PLANTED(settle_before_ack)) missed.what = outcome::delivered;
    return std::vector<delivery>(rows, missed);
}

}  // namespace

delivery failure(std::string why, outcome what) {
    return {.what = what,
            .duplicate = false,
            .payload = {},
            .error = std::move(why),
            .retry_after = {}};
}

task<std::vector<delivery>> attempt(transport& wire, std::vector<outbox_row>& rows, tracer* traces,
                                    std::optional<prepared_span>& prepared) {
    std::optional<attempt_trace> trace;
    if (traces != nullptr && !wire.traces_itself()) trace.emplace(*traces, rows, prepared);
    message_batch batch;
    std::vector<std::int32_t> failed;
    batch.reserve(rows.size());
    failed.reserve(rows.size());
    for (const auto& row : rows) {
        batch.push_back(&row.body);
        failed.push_back(row.attempts);
    }
    auto answers = co_await ask(wire, std::move(batch), std::move(failed));
    if (!answers) answers = all_missed(rows.size(), answers.error());
    answers->resize(rows.size(), failure("the answer left this message out"));
    for (auto& answer : *answers)
        if (is_silence(answer)) answer.what = outcome::unanswered;
    if (trace) trace->end(*answers);
    co_return *std::move(answers);
}

std::vector<delivery> timed_out(std::size_t rows, std::chrono::milliseconds limit) {
    return all_missed(rows,
                      error(error_code::timed_out,
                            fmt::format("timed out: not finished within {} ms", limit.count())));
}

delivery no_route_to(std::string_view destination) {
    return failure(
        fmt::format(
            "no route to '{}'; add it under [routes], or in C++ to the node's routes{}",
            destination,
            has_http_scheme(destination) ? ", or let URLs be sent to: urls.enabled = true" : ""),
        outcome::undeliverable);
}

void spare(std::vector<delivery>& answers) {
    for (auto& answer : answers)
        if (answer.what == outcome::transient) answer.what = outcome::unanswered;
}

}  // namespace posthorn
