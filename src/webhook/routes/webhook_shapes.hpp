#pragma once

#include <array>

#include "feature/admin_route.hpp"

namespace posthorn {

/// What the routes of webhooks take and answer.
inline constexpr std::array webhook_shapes{
    named_shape{"Subscription",
                "{id: uuid, state: 'active' | 'paused' | 'disabled', eventType: string,"
                " url: string, style: 'standard' | 'outbox' | 'both',"
                " form: 'envelope' | 'raw' | 'thin', maxRetries: integer,"
                " timeoutSeconds: integer, createdAt: time, configured?: boolean, tenant?: string,"
                " reason?: string,"
                " description?: string, headers?: any, filter?: any, updatedAt?: time,"
                " previousSecretUntil?: time, publicKey?: string, trouble?: string}"},
    named_shape{"EndpointHealth", "'failing' | 'disabled' | 'paused' | 'delivering' | 'quiet'"},
    named_shape{"WebhookAttempt",
                "{seq: integer, deliveryId: uuid, messageId: uuid, attempt: integer,"
                " state: 'pending' | 'success' | 'failed' | 'dead', at: time, tookMs: integer,"
                " eventType?: string, httpStatus?: integer, answer?: string, error?: string}"},
    named_shape{"WebhookRequest", "{url: string, headers: any, body: string}"}};

}  // namespace posthorn
