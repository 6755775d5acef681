#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <posthorn/detail/sql.hpp>

#include "store/dead_letters.hpp"
#include "store/outbox_table.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rules/cause.hpp"
#include "store/statements/closed_account_sql.hpp"

namespace posthorn {

/// Keeps when messages were given up or closed, and dead ones by their cause, in the open
/// transaction. A trigger has made the row; it knows neither the clock of the node nor the cause.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
template <class Driver>
class closed_account {
public:
    explicit closed_account(typename Driver::connection& database,
                            const closed_account_sql& texts = closed_account_texts)
        : error_(database, texts.error_by_seq),
          find_(database, texts.find),
          count_(database, texts.count),
          drop_unused_(database, texts.drop_unused),
          add_(database, texts.add),
          ungrouped_(database, texts.ungrouped),
          record_(database, texts.record) {}
    virtual ~closed_account() = default;

    /// Of a message that is `status` by now.
    result<> record(std::int64_t seq, outbox_status status, wall_time at);
    /// Dead ones without a cause get theirs; gives their number.
    result<std::int64_t> group_some(std::size_t limit);

protected:
    virtual result<> write(std::int64_t seq, outbox_status status, wall_time at,
                           std::optional<std::int64_t> cause_id) {
        return Driver::soon(record_, seq, to_ms(at), cause_id, to_string(status));
    }

private:
    struct cause {
        std::string destination;
        std::string endpoint;
        std::string text;
    };

    result<std::optional<std::int64_t>> cause_of(std::int64_t seq, wall_time at);
    result<std::int64_t> find_or_add(const cause& of, wall_time at);
    result<bool> is_full();
    result<bool> is_full_now();

    typename Driver::statement error_;
    typename Driver::statement find_;
    typename Driver::statement count_;
    typename Driver::statement drop_unused_;
    typename Driver::statement add_;
    typename Driver::statement ungrouped_;
    typename Driver::statement record_;
    int full_for_ = 0;  // So many more causes are `other` without a look.
};

template <class Driver>
result<> closed_account<Driver>::record(std::int64_t seq, outbox_status status, wall_time at) {
    std::optional<std::int64_t> cause_id;
    if (status == outbox_status::dead) {
        POSTHORN_LET(found, cause_of(seq, at));
        cause_id = found;
    }
    return write(seq, status, at, cause_id);
}

template <class Driver>
result<std::optional<std::int64_t>> closed_account<Driver>::cause_of(std::int64_t seq,
                                                                     wall_time at) {
    cause of;
    {
        POSTHORN_LET(found, error_.run(seq));
        if (found.empty()) return std::nullopt;
        const auto& row = found.front();
        of = {.destination = std::string(row.text(0)),
              .endpoint = std::string(row.text(1)),
              .text = std::string(Driver::storable(normalise_cause(row.text(2))))};
    }
    return find_or_add(of, at);
}

template <class Driver>
result<std::int64_t> closed_account<Driver>::find_or_add(const cause& of, wall_time at) {
    {
        POSTHORN_LET(known, find_.run(of.destination, of.endpoint, of.text));
        if (!known.empty()) return known.front().integer(0);
    }
    POSTHORN_LET(full, is_full());
    // One for everything more: errors of so many kinds tell nothing.
    if (full && !of.destination.empty())
        return find_or_add({.destination = "", .endpoint = "", .text = "other"}, at);
    std::int64_t added = 0;
    POSTHORN_LET(found, add_.run(of.destination, of.endpoint, of.text, to_ms(at)));
    POSTHORN_TRY(found.each([&](const sql_row& row) { added = row.integer(0); }));
    return added;
}

template <class Driver>
result<bool> closed_account<Driver>::is_full_now() {
    POSTHORN_LET(counted, count_.run());
    return counted.front().integer(0) >= static_cast<std::int64_t>(causes_max);
}

template <class Driver>
result<bool> closed_account<Driver>::is_full() {
    constexpr int looks_saved = 1'000;  // Counting ten thousand rows for each message is too much.
    if (full_for_ > 0) {
        --full_for_;
        return true;
    }
    auto full = is_full_now();
    if (!full || !*full) return full;
    POSTHORN_TRY(drop_unused_.run());
    full = is_full_now();
    if (full && *full) full_for_ = looks_saved;
    return full;
}

template <class Driver>
result<std::int64_t> closed_account<Driver>::group_some(std::size_t limit) {
    std::vector<std::pair<std::int64_t, wall_time>> dead;
    {
        POSTHORN_LET(found, ungrouped_.run(static_cast<std::int64_t>(limit)));
        POSTHORN_TRY(found.each([&](const sql_row& row) {
            dead.emplace_back(row.integer(0), from_ms(row.integer(1)));
        }));
    }
    for (const auto& [seq, at] : dead) POSTHORN_TRY(record(seq, outbox_status::dead, at));
    return std::ssize(dead);
}

}  // namespace posthorn
