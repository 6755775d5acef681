#include "limit/inbox.hpp"

#include <chrono>

#include "measure/payload.hpp"

namespace posthorn::bench {
namespace {

constexpr std::string_view tables =
    "CREATE TABLE charges(id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE inbox(source TEXT NOT NULL, message_id BLOB NOT NULL,"
    " processed_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,"
    " PRIMARY KEY (source, message_id)) WITHOUT ROWID;";

}  // namespace

inbox::inbox(const std::string& file)
    : file_(file, tables),
      begin_(file_.raw(), "BEGIN IMMEDIATE"),
      add_seen_(file_.raw(), "INSERT INTO inbox VALUES ('orders', ?, ?, ?)"),
      add_charge_(file_.raw(), "INSERT INTO charges(text) VALUES (?)"),
      commit_(file_.raw(), "COMMIT") {}

const std::vector<std::uint64_t>& inbox::apply(std::span<const arrived_message> batch) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    fresh_.clear();
    begin_.must_run();
    for (const auto& one : batch) {
        add_seen_.bind_blob(1, one.id);
        add_seen_.bind(2, now);
        add_seen_.bind(3, one.expires_ms);
        if (!add_seen_.run()) continue;  // A repeat.
        add_charge_.bind_text(1, one.payload);
        add_charge_.must_run();
        fresh_.push_back(measure::index_of(one.payload));
    }
    commit_.must_run();
    return fresh_;
}

std::uint64_t inbox::count_effects() {
    statement count(file_.raw(), "SELECT count(*) FROM charges");
    return static_cast<std::uint64_t>(count.get());
}

}  // namespace posthorn::bench
