#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/config.hpp"
#include "app/config/core_options.hpp"
#include "base/async/task.hpp"
#include "base/run/node_service.hpp"
#include "store/beside_report.hpp"
#include "store/outside_database.hpp"
#include "store/probed_database.hpp"
#include "store/schema_differences.hpp"
#include "store/store.hpp"

struct pg_conn;

namespace posthorn {

/// Opens the store on a server, if one is given, and otherwise on the file. Where Posthorn was
/// built without PostgreSQL, a server is `error_code::invalid_configuration`.
result<std::unique_ptr<store>> open_store(const sqlite::sqlite_options& file,
                                          const std::optional<server_database>& server,
                                          const sqlite::sqlite_seams& seams);

/// For databases that are not stores: `sqlite:` and a path, or a PostgreSQL server's URL.
result<std::unique_ptr<outside_database>> open_outside(const std::string& url, const clock& time);

/// Makes the folder that a database file is to lie in, closed to other users; SQLite makes the file
/// alone. One that is there stays as it is.
result<> make_folder_of(const std::string& database);

/// Looks at a database of a configuration, `store.url` or `store.inbox_url`. It changes nothing
/// there, and may be used before a node has opened it.
result<probed_database> probe_database(const config& settings, const database_url& url,
                                       const clock& time);

/// The SQL that makes Posthorn's tables on a server.
result<std::string> server_definitions(const std::string& schema);

/// What `doctor` wants to know of a store on a server; nothing is changed there.
struct server_store_facts {
    std::string service;
    std::int64_t step = 0;
    std::int64_t step_known = 0;
    std::int64_t dead = 0;
    std::int64_t expired = 0;
    blocked_report blocked{};
    backlog_report backlog{};
    beside_report beside{};
    std::optional<wall_time> newest{};
    bool is_synced = true;
    bool is_read_only = false;
    schema_differences schema{};
    std::int64_t numbers_left = 0;
    std::string missing_rights;
};
result<server_store_facts> look_at_server(const server_database& server, const clock& time);
/// The numbers of the one row that a query gives there; `{s}` in it stands for the schema.
result<std::vector<std::int64_t>> ask_server(const server_database& server, std::string_view sql,
                                             const clock& time);

struct store_move {
    std::string file;  // A stopped node's.
    server_database to;
    std::string id;  // A new one, for this move.
    std::function<void(std::int64_t done, std::int64_t all, std::string_view table)> progress{};
};

struct store_moved {
    struct table {
        std::string name;
        std::int64_t rows = 0;
        std::int64_t hash = 0;  // The same on both sides.
    };
    std::string to;
    std::vector<table> tables;      // None if an earlier run had copied them.
    std::vector<std::string> left;  // Tables of the file that are not Posthorn's.
    bool was_there = false;
};

/// Copies a store from a file to a server, whole or not at all, and marks the file.
result<store_moved> move_store(const store_move& asked, const clock& time);
/// Takes the mark away. Without a URL the server is not asked whether the copy is still there.
result<> take_move_back(const store_move& asked, const clock& time);

/// What a watcher of others calls.
struct watcher_calls {
    std::function<task<bool>()>
        has_changed;  // Whether another writer committed since the last time.
    std::function<void()> on_news;
};
/// Hears of what others have stored, in a store that `open_store` opened: other processes with the
/// same file, or other nodes on the server. Null where no watcher is wanted.
std::unique_ptr<node_service> watch_others(const std::string& file, const core_options& options,
                                           const store& opened, const node_seams& seams,
                                           watcher_calls calls);

/// Stores a message through the caller's own connection to the node's server, in the caller's open
/// transaction. `error_code::invalid_argument` where the node's database is no such one.
result<uuid> insert_on_server(pg_conn* handle, const config& settings, const message& body);

}  // namespace posthorn
