#include "store/postgres/upkeep/copied_tables.hpp"

#include <array>

namespace posthorn::postgres {
namespace {

using column = copied_table::column;
using enum copied_table::column::kind;

constexpr std::array messages{column{"seq", number},
                              column{"message_id"},
                              column{"correlation_id"},
                              column{"message_type"},
                              column{"destination"},
                              column{"endpoint"},
                              column{"payload", payload},
                              column{"headers"},
                              column{"status"},
                              column{"retry_count", number},
                              column{"max_retries", number},
                              column{"next_retry_at", number},
                              column{"last_attempt_at", number},
                              column{"last_error", note},
                              column{"created_at", number},
                              column{"expires_at", number},
                              column{"sent_at", number},
                              column{"deliver_at", number},
                              column{"parent_id"},
                              column{"causation_id"},
                              column{"tenant"},
                              column{"order_key"},
                              column{"dedupe_key"},
                              column{"priority", number},
                              column{"content_type"},
                              column{"resolution", note},
                              column{"checksum", number}};
constexpr std::array attempts{column{"seq", number}, column{"attempt", number},
                              column{"at", number}, column{"error", note}};
constexpr std::array ended{column{"seq", number}};
constexpr std::array causes{column{"cause_id", number}, column{"destination"},
                            column{"endpoint"},         column{"cause", note},
                            column{"dead", number},     column{"first_at", number},
                            column{"last_at", number}};
constexpr std::array closed{column{"seq", number}, column{"status"}, column{"at", number},
                            column{"cause_id", number}};
constexpr std::array paused{column{"destination"}, column{"paused_at", number},
                            column{"reason", note}};
constexpr std::array received{column{"seq", number},
                              column{"source_service_id"},
                              column{"message_id"},
                              column{"endpoint"},
                              column{"body_hash", bytes},
                              column{"processed_at", number},
                              column{"response_payload", bytes},
                              column{"expires_at", number},
                              column{"claim_owner"},
                              column{"claim_until", number},
                              column{"response_checksum", number}};
constexpr std::array leases{column{"name"}, column{"owner"}, column{"epoch", number},
                            column{"beat", number}};
constexpr std::array logged{column{"change_seq", number}, column{"epoch", number},
                            column{"at", number}, column{"kind"}, column{"seqs"}};
constexpr std::array known{column{"name"}, column{"value"}};

constexpr std::array tables{
    // No transaction of the server's stored them, so none is looked for.
    copied_table{.name = "outbox_messages",
                 .columns = messages,
                 .numbered_by = "seq",
                 .also = "tx",
                 .always = "0"},
    copied_table{.name = "outbox_attempts", .columns = attempts, .and_by = "attempt"},
    copied_table{.name = "outbox_ended", .columns = ended},
    copied_table{.name = "outbox_causes", .columns = causes, .numbered_by = "cause_id"},
    copied_table{.name = "outbox_closed", .columns = closed},
    copied_table{.name = "outbox_paused", .columns = paused},
    copied_table{.name = "inbox_messages", .columns = received, .numbered_by = "seq"},
    copied_table{.name = "posthorn_leases", .columns = leases},
    copied_table{.name = "changes", .columns = logged, .numbered_by = "change_seq"},
    // The others are of the file itself.
    copied_table{
        .name = "posthorn_meta",
        .columns = known,
        .only = "name IN ('service', 'order_policy', 'restored_at', 'restored_from', 'restores')"},
};

}  // namespace

std::vector<copied_table> copied_tables(std::span<const table_set> above) {
    std::vector<copied_table> all(tables.begin(), tables.end());
    for (const auto& each : above) all.insert(all.end(), each.copied.begin(), each.copied.end());
    return all;
}

}  // namespace posthorn::postgres
