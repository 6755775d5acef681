#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "app/config.hpp"
#include "app/node_options.hpp"
#include "base/task.hpp"
#include "store/store.hpp"

struct pg_conn;

namespace posthorn {

/// Opens the store on a server, if one is given, and otherwise on the file. Where Posthorn was
/// built without PostgreSQL, a server is `error_code::invalid_configuration`.
result<std::unique_ptr<store>> open_store(const sqlite::sqlite_options& file,
                                          const std::optional<server_database>& server,
                                          const sqlite::sqlite_seams& seams);

/// The SQL that makes Posthorn's tables on a server.
result<std::string> server_definitions(const std::string& schema);

/// Hears of what other nodes have stored.
///
/// Lifetime: what it is given outlives `run()`.
/// Cancel:   `run()` returns.
class store_news {
public:
    virtual ~store_news() = default;
    virtual task<> run() = 0;
};

/// Of a store that `open_store` opened on the server.
std::unique_ptr<store_news> watch_server(const server_database& server, const store& opened,
                                         const node_seams& seams, std::function<void()> on_news);

/// Stores a message through the caller's own connection to the node's server, in the caller's open
/// transaction. `error_code::invalid_argument` where the node's database is no such one.
result<uuid> insert_on_server(pg_conn* handle, const config& settings, const message& body);

}  // namespace posthorn
