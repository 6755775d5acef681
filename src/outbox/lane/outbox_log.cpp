#include "outbox/lane/outbox_log.hpp"

namespace posthorn {
namespace {

log_value retries_max(const message& body) {
    if (body.max_retries == retry_for_ever) return std::string_view("unlimited");
    return body.max_retries;
}

}  // namespace

void log_enqueued(logger& log, const std::vector<outbox_row>& rows) {
    if (!log.enabled(log_level::info)) return;
    for (const auto& row : rows)
        log.info("Outbox: Message {MessageId} enqueued for {Destination}/{Endpoint}",
                 {{"MessageId", row.body.id},
                  {"Destination", row.body.destination},
                  {"Endpoint", row.body.endpoint}});
}

void log_attempt(logger& log, const attempt_record& attempt) {
    const auto& body = attempt.row.body;
    switch (attempt.what.what) {
        case decision::kind::settle:
            log.debug("Published {MessageId}", {{"MessageId", body.id}});
            return log.info("Outbox: Message {MessageId} sent successfully ({Duration}ms)",
                            {{"MessageId", body.id}, {"Duration", attempt.duration.count()}});
        case decision::kind::retry:
            log.debug("Failed to publish {MessageId}", {{"MessageId", body.id}});
            return log.warn(
                "Outbox: Message {MessageId} send failed, retry {RetryCount}/{MaxRetries}: {Error}",
                {{"MessageId", body.id},
                 {"RetryCount", attempt.row.attempts + 1},
                 {"MaxRetries", retries_max(body)},
                 {"Error", attempt.error}});
        case decision::kind::bury:
            log.debug("Failed to publish {MessageId}", {{"MessageId", body.id}});
            // The retries that were made: all that the message had, unless the error was final.
            return log.error(
                "Outbox: Message {MessageId} permanently failed after {MaxRetries} retries",
                {{"MessageId", body.id},
                 {"MaxRetries", attempt.row.attempts},
                 {"Error", attempt.error}});
        case decision::kind::expire:
            return log.warn("Outbox: Message {MessageId} expired: {Error}",
                            {{"MessageId", body.id}, {"Error", attempt.error}});
        case decision::kind::throttle:
        case decision::kind::spare:
        case decision::kind::hold: return;  // Told of once a batch, by the lane.
    }
}

void log_rest(logger& log, const lane_trouble& of) {
    log.warn("Outbox: {Destination} asks for patience; its messages wait: {Error}",
             {{"Destination", of.destination}, {"Error", of.error}});
}

void log_silence(logger& log, const lane_trouble& of) {
    log.warn(
        "Outbox: {Destination} gives no answer that counts; its messages wait, and one is tried "
        "from time to time: {Error}",
        {{"Destination", of.destination}, {"Error", of.error}});
}

}  // namespace posthorn
