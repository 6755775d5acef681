#pragma once

#include <array>

#include "feature/admin_route.hpp"

/// What the admin routes answer, as `feature/shape.hpp` writes it down.
namespace posthorn::shapes {

inline constexpr std::string_view status = "'Pending' | 'Sent' | 'Dead' | 'Expired' | 'Resolved'";
inline constexpr std::string_view light = "'green' | 'yellow' | 'red'";

inline constexpr std::string_view message =
    "{messageId: string, seq: integer, messageType: string, destination: string, endpoint: string,"
    " status: Status, retryCount: integer, maxRetries: integer, createdAt: time, expiresAt: time,"
    " parked?: boolean, nextRetryAt?: time, deliverAt?: time, lastAttemptAt?: time, sentAt?: time,"
    " lastError?: string, resolution?: string, correlationId?: string, tenant?: string,"
    " orderKey?: string, causationId?: string}";
inline constexpr std::string_view blocker = "{messageId: string, status: Status, since?: time}";
inline constexpr std::string_view detail =
    "{...Message, contentType: string, payloadBytes: integer, waitsBehind?: Blocker,"
    " attempts: [{attempt: integer, at: time, error: string}], payload?: string, headers?: string}";
inline constexpr std::string_view dead_letter =
    "{...Message, state: string, closedAt?: time, cause?: integer, causeText?: string}";
inline constexpr std::string_view dead_detail =
    "{...Detail, state: string, closedAt?: time, cause?: integer, causeText?: string}";
inline constexpr std::string_view alarm =
    "{count: count, destination?: string, error?: string,"
    " causes?: [{count: count, destination?: string, error?: string}]}";

/// Those of messages.
inline constexpr std::array of_messages{
    named_shape{"Status", status},          named_shape{"Message", message},
    named_shape{"Blocker", blocker},        named_shape{"Detail", detail},
    named_shape{"DeadLetter", dead_letter}, named_shape{"DeadDetail", dead_detail},
};
/// Those of the node as a whole.
inline constexpr std::array of_node{
    named_shape{"Light", light},
    named_shape{"Status", status},
    named_shape{"Blocker", blocker},
    named_shape{"Alarm", alarm},
};

inline constexpr std::string_view list_query =
    "{status?: Status, destination?: string, endpoint?: string, correlationId?: string,"
    " causationId?: string, tenant?: string, orderKey?: string, error?: string, since?: time,"
    " until?: time, before?: integer, limit?: integer, database?: 'inbox' | 'main'}";
inline constexpr std::string_view payload_query = "{payload?: boolean}";

}  // namespace posthorn::shapes
