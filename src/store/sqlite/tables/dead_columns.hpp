#pragma once

#include "store/rows/dead_rows.hpp"

/// What `read_dead_row` reads: all of a message, in whichever state.
#define POSTHORN_DEAD_ROW                                                                    \
    POSTHORN_SUMMARY_COLUMNS                                                                 \
    ", payload, headers, content_type,"                                                      \
    " (SELECT at FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq),"         \
    " (SELECT cause_id FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq),"   \
    " (SELECT cause FROM outbox_causes WHERE cause_id = (SELECT cause_id FROM outbox_closed" \
    "  WHERE outbox_closed.seq = outbox_messages.seq))"

/// What `fits` reads.
#define POSTHORN_DEAD_KEYS                                                                    \
    "outbox_messages.seq, destination, endpoint, tenant, order_key, last_error, expires_at,"  \
    " coalesce((SELECT at FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq)," \
    "  last_attempt_at, created_at),"                                                         \
    " outbox_messages.status,"                                                                \
    " (SELECT cause_id FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq)"
