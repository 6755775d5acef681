#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/inbox_table.hpp"
#include "store/rows/inbox_rows.hpp"

namespace posthorn {

/// What the inbox knows of a message, by a statement that gives what `read_inbox_entry` reads.
template <class Statement>
result<std::optional<inbox_entry>> find_inbox_entry(Statement& find, const inbox_key& key) {
    POSTHORN_LET(found, find.run(key.source, key.id));
    if (found.empty()) return std::nullopt;
    return read_inbox_entry(found.front(), key.id);
}

/// The inbox as a reading connection sees it. A store gives the statements.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
template <class Driver>
class inbox_looks : public inbox_reader {
public:
    inbox_looks(typename Driver::connection& database, std::string_view find_sql,
                std::string_view count_sql)
        : find_(database, find_sql), count_(database, count_sql) {}

    result<std::optional<inbox_entry>> find(const inbox_key& key) override {
        return find_inbox_entry(find_, key);
    }
    result<std::int64_t> count() override {
        POSTHORN_LET(counted, count_.run());
        return counted.front().integer(0);
    }

private:
    typename Driver::statement find_;
    typename Driver::statement count_;
};

}  // namespace posthorn
