// Sections with the options of documents under their own names, each of which stands for a key or two
// of ours: [InboxOutbox] of integration events, [StoreAndForward] and [OperationTracking].
#include <array>

#include "app/config/config_table.hpp"
#include "app/config/document_option.hpp"

namespace posthorn {
namespace {

constexpr std::string_view parallel_name = "EnableParallelProcessing";
constexpr std::string_view degree_name = "MaxDegreeOfParallelism";

constexpr std::array inbox_outbox_options{
    document_option{"OutboxPollingInterval", written_as::span, "outbox.poll_interval"},
    document_option{"BatchSize", written_as::number, "outbox.batch_size"},
    document_option{"MaxRetries", written_as::number, "outbox.max_retries"},
    document_option{"RetryBaseDelayMilliseconds", written_as::milliseconds,
                    "outbox.retry_delay_base"},
    document_option{"RetryMaxDelayMilliseconds", written_as::milliseconds,
                    "outbox.retry_delay_max"},
    document_option{"OutboxRetentionDays", written_as::days, "outbox.sent_retention"},
    document_option{"InboxRetentionDays", written_as::days, "inbox.retention"},
    document_option{"CleanupInterval", written_as::span, "outbox.cleanup_interval",
                    "inbox.cleanup_interval"},
    document_option{"EnableAutomaticCleanup", written_as::truth, "store.cleanup"},
    document_option{"EnableDeadLetterQueue", written_as::truth, "outbox.dead_letters"},
    document_option{"DeadLetterRetentionDays", written_as::days, "outbox.dead_retention"},
    // Both together are `outbox.window`.
    document_option{parallel_name, written_as::truth, "outbox.window"},
    document_option{degree_name, written_as::number, "outbox.window"},
};

constexpr std::string_view path_name = "SqliteDbPath";

constexpr std::array store_and_forward_options{
    document_option{path_name, written_as::text, "store.url"},
    // A standby's matter, which is set up at the standby: it is read, and changes nothing here.
    document_option{"ReplicationEnabled", written_as::truth},
    document_option{"DefaultRetryInterval", written_as::span, "forward.retry_interval"},
    document_option{"DefaultMaxRetries", written_as::number, "forward.max_retries"},
    document_option{"RetryTimerInterval", written_as::span, "outbox.poll_interval"},
};

constexpr std::array operation_tracking_options{
    // It lies in the service's own database, to change in the transaction that changes the work.
    document_option{"ConnectionString", written_as::text},
    document_option{"RetentionDays", written_as::days, "forward.tracking_kept"},
};

config_value window_of(config& settings, std::string_view name, const config_value& value) {
    auto& said = settings.inbox_outbox;
    if (name == parallel_name)
        said.parallel = std::get<bool>(value);
    else
        said.degree = std::get<std::int64_t>(value);
    return said.parallel ? said.degree : std::int64_t{1};
}

}  // namespace

result<> set_inbox_outbox(config& settings, std::string_view name, const config_value& value,
                          std::string_view origin) {
    POSTHORN_LET(said,
                 read_document_option({"InboxOutbox", inbox_outbox_options}, name, value, origin));
    if (name == parallel_name || name == degree_name)
        said.value = window_of(settings, name, said.value);
    return set_document_option(settings, said, origin);
}

result<> set_store_and_forward(config& settings, std::string_view name, const config_value& value,
                               std::string_view origin) {
    POSTHORN_LET(said, read_document_option({"StoreAndForward", store_and_forward_options}, name,
                                            value, origin));
    if (name == path_name) said.value = "sqlite:" + std::get<std::string>(said.value);
    return set_document_option(settings, said, origin);
}

result<> set_operation_tracking(config& settings, std::string_view name, const config_value& value,
                                std::string_view origin) {
    POSTHORN_LET(said, read_document_option({"OperationTracking", operation_tracking_options}, name,
                                            value, origin));
    return set_document_option(settings, said, origin);
}

}  // namespace posthorn
