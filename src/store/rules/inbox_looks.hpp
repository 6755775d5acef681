#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/inbox_table.hpp"
#include "store/rows/inbox_rows.hpp"
#include "store/statements/inbox_sql.hpp"

namespace posthorn {

/// What the inbox knows of a message, by a statement that gives what `read_inbox_entry` reads.
template <class Statement>
result<std::optional<inbox_entry>> find_inbox_entry(Statement& find, const inbox_key& key) {
    POSTHORN_LET(found, find.run(key.source, key.id));
    if (found.empty()) return std::nullopt;
    return read_inbox_entry(found.front(), key.id);
}

/// The inbox as a reading connection sees it.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
template <class Driver>
class inbox_looks final : public inbox_reader {
public:
    explicit inbox_looks(typename Driver::connection& database,
                         const inbox_looks_sql& texts = inbox_looks_texts)
        : find_(database, texts.find), count_(database, texts.count) {}

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
