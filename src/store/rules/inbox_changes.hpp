#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "store/inbox_table.hpp"
#include "store/rows/inbox_rows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rules/inbox_looks.hpp"
#include "store/statements/inbox_sql.hpp"
#include "store/swallowed.hpp"

namespace posthorn {

/// Messages in the inbox, inside a write transaction.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
template <class Driver>
class inbox_changes : public inbox_table {
public:
    explicit inbox_changes(typename Driver::connection& database,
                           const inbox_changes_sql& texts = inbox_changes_texts)
        : find_(database, texts.find),
          insert_(database, texts.insert),
          claim_(database, texts.claim),
          take_over_(database, texts.take_over),
          respond_(database, texts.respond),
          complete_(database, texts.complete),
          release_(database, texts.release) {}

    result<std::optional<inbox_entry>> find(const inbox_key& key) override {
        return find_inbox_entry(find_, key);
    }
    result<bool> insert(const inbox_record& record) override;
    result<bool> claim(const inbox_claim& wanted, wall_time now) override;
    result<> respond(const inbox_key& key, std::string_view response) override {
        POSTHORN_LET(kept, respond_.run(key.source, key.id, Driver::bytes_or_null(response),
                                        seal_of(response)));
        if (kept.changed() == 0) return swallowed("inbox_messages", error_code::store_busy);
        return {};
    }
    result<bool> complete(const inbox_record& record, std::string_view owner) override {
        const auto before = received_.size();
        POSTHORN_LET(completed, complete_.run(record.key.source, record.key.id, owner,
                                              to_ms(record.processed_at),
                                              Driver::bytes_or_null(record.response),
                                              to_ms(record.expires_at), seal_of(record.response)));
        POSTHORN_TRY(completed.each([this](const sql_row& row) { note_received(row.integer(0)); }));
        return received_.size() > before;
    }
    result<bool> release(const inbox_key& key, std::string_view owner) override {
        POSTHORN_LET(released, release_.run(key.source, key.id, owner));
        return released.changed() > 0;
    }

    /// Rows that the present unit recorded as processed, for the change log.
    std::vector<std::int64_t> take_received() { return std::exchange(received_, {}); }

protected:
    /// `error_code::store_full` where no more is to be taken in.
    virtual result<> require_room() { return {}; }
    void note_received(std::int64_t seq) { received_.push_back(seq); }

private:
    typename Driver::statement find_;
    typename Driver::statement insert_;
    typename Driver::statement claim_;
    typename Driver::statement take_over_;
    typename Driver::statement respond_;
    typename Driver::statement complete_;
    typename Driver::statement release_;
    std::vector<std::int64_t> received_;
};

template <class Driver>
result<bool> inbox_changes<Driver>::insert(const inbox_record& record) {
    POSTHORN_TRY(require_room());
    POSTHORN_LET(seq, Driver::insert_new(
                          insert_, record.key.source, record.key.id, record.endpoint,
                          blob{record.hash}, to_ms(record.processed_at), to_ms(record.expires_at),
                          Driver::bytes_or_null(record.response), seal_of(record.response)));
    if (seq) note_received(*seq);
    return seq.has_value();
}

template <class Driver>
result<bool> inbox_changes<Driver>::claim(const inbox_claim& wanted, wall_time now) {
    POSTHORN_TRY(require_room());
    POSTHORN_LET(made, Driver::insert_new(claim_, wanted.key.source, wanted.key.id, wanted.endpoint,
                                          blob{wanted.hash}, wanted.owner, to_ms(wanted.until),
                                          to_ms(wanted.expires_at)));
    if (made) return true;
    POSTHORN_LET(taken, take_over_.run(wanted.key.source, wanted.key.id, wanted.owner,
                                       to_ms(wanted.until), to_ms(now)));
    return taken.changed() > 0;
}

}  // namespace posthorn
