#pragma once

#include "app/config/config_problems.hpp"
#include "app/node/node_hooks.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "base/time/clock.hpp"
#include "inbox/configured/http_handler.hpp"
#include "inbox/configured/refused_calls.hpp"
#include "inbox/handlers.hpp"
#include "store/sql_query.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What configured handlers are made with; outlives them.
struct handler_deps {
    const environment& env;
    handlers& registry;
    store& database;  // The inbox's.
    web_caller caller;
    refused_calls& refused;
};

/// Is told what `key` needs that is not in the database yet, such as a table.
using sql_remark_taker = std::function<void(std::string_view key, std::string_view remark)>;

/// Adds to `found` what is wrong with the SQL of `[handlers]` and `[responses]`.
void check_configured_handlers(const config& settings, const sql_query& ask,
                               const sql_remark_taker& take_remark, config_problems& found);

/// The same for `outbox.on_dead` and `outbox.on_expired`.
void check_configured_hooks(const config& settings, const sql_query& ask,
                            const sql_remark_taker& take_remark, config_problems& found);

/// Adds the handlers of `[handlers]` and `[responses]`. `error_code::invalid_configuration`, with
/// the line, for all SQL that the database does not understand; a table that is missing is only
/// remarked on, since the service may make it later.
result<> add_configured_handlers(const config& settings, const handler_deps& with);

/// Adds what `outbox.on_dead` and `outbox.on_expired` say; likewise. The store is that of the
/// outbox.
result<> add_configured_hooks(const config& settings, const environment& env, store& database,
                              node_hooks& to);

}  // namespace posthorn
