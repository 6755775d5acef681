#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <posthorn/detail/sql.hpp>

#include "store/old_rows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rules/beside_walk.hpp"
#include "store/statements/old_rows_purge_sql.hpp"
#include "store/swallowed.hpp"

namespace posthorn {

/// How old rows are found and deleted, a slice at a time. How a store finds
/// messages that were sent, and what goes with them, is its own.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
template <class Driver>
class old_rows_purge : public old_rows {
public:
    old_rows_purge(typename Driver::connection& database, const clock& time,
                   const old_rows_purge_sql& texts = old_rows_purge_texts)
        : time_(time),
          beside_(database),
          find_closed_(database, texts.find.closed),
          find_received_(database, texts.find.received),
          find_changes_(database, texts.find.changes),
          find_sent_(database, texts.find.sent),
          remove_message_(database, texts.remove.message),
          remove_closed_message_(database, texts.remove.closed_message),
          remove_closed_(database, texts.remove.closed),
          remove_received_(database, texts.remove.received),
          remove_changes_(database, texts.remove.changes),
          shorten_(database, texts.shorten) {}

    result<slice_outcome> purge(row_kind kind, wall_time before, const slice& room) override;
    result<slice_outcome> shorten_received(std::chrono::milliseconds life_max, wall_time now,
                                           const slice& room) override {
        POSTHORN_LET(shortened, shorten_.run(std::int64_t{life_max.count()}, to_ms(now),
                                             static_cast<std::int64_t>(room.rows())));
        const auto rows = static_cast<std::size_t>(shortened.changed());
        return slice_outcome{.rows = rows, .more = rows == room.rows()};
    }
    /// A server takes the room of deleted rows back by itself.
    result<slice_outcome> give_back(const slice&) override { return slice_outcome{}; }
    result<slice_outcome> mend_beside(const slice& room) override {
        return beside_.go_on(time_.wall(), room);
    }

protected:
    using numbers = std::span<const std::int64_t>;
    struct found {
        std::vector<std::int64_t> keys;
        bool more = false;
    };
    /// Up to the last one that is old.
    static result<found> collect(typename Driver::rows seen, std::size_t limit);
    template <class... Args>
    static result<std::size_t> rows_changed(typename Driver::statement& one, const Args&... args) {
        POSTHORN_LET(done, one.run(args...));
        return static_cast<std::size_t>(done.changed());
    }

    virtual result<found> find_sent(wall_time before, std::size_t limit) {
        POSTHORN_LET(seen, look_for_sent(before, limit));
        return collect(std::move(seen), limit);
    }
    template <class... Also>
    result<typename Driver::rows> look_for_sent(wall_time before, std::size_t limit,
                                                const Also&... also) {
        return find_sent_.run(to_ms(before), static_cast<std::int64_t>(limit), also...);
    }
    virtual result<std::size_t> remove_sent(numbers keys) {
        return rows_changed(remove_message_, Driver::numbers(keys));
    }

private:
    result<found> find(row_kind kind, wall_time before, std::size_t limit);
    /// Gives how many are gone: a trigger of the application's may keep some.
    result<std::size_t> remove(row_kind kind, numbers keys);

    const clock& time_;
    beside_walk<Driver> beside_;
    typename Driver::statement find_closed_;
    typename Driver::statement find_received_;
    typename Driver::statement find_changes_;
    typename Driver::statement find_sent_;
    typename Driver::statement remove_message_;
    typename Driver::statement remove_closed_message_;
    typename Driver::statement remove_closed_;
    typename Driver::statement remove_received_;
    typename Driver::statement remove_changes_;
    typename Driver::statement shorten_;
};

template <class Driver>
result<typename old_rows_purge<Driver>::found> old_rows_purge<Driver>::collect(
    typename Driver::rows seen, std::size_t limit) {
    found old;
    std::size_t last_old = 0;
    POSTHORN_TRY(seen.each([&](const sql_row& row) {
        old.keys.push_back(row.integer(0));
        if (row.integer(1) != 0) last_old = old.keys.size();
    }));
    old.keys.resize(last_old);  // Before an old one, those too that say a time yet to come.
    old.more = old.keys.size() == limit;
    return old;
}

template <class Driver>
result<typename old_rows_purge<Driver>::found> old_rows_purge<Driver>::find(row_kind kind,
                                                                            wall_time before,
                                                                            std::size_t limit) {
    const auto begin = [&, at = to_ms(before), rows_max = static_cast<std::int64_t>(limit)] {
        switch (kind) {
            case row_kind::received: return find_received_.run(at, rows_max);
            case row_kind::changes: return find_changes_.run(at, rows_max);
            default: return find_closed_.run(at, rows_max, closed_status_of(kind));
        }
    };
    if (kind == row_kind::sent) return find_sent(before, limit);
    POSTHORN_LET(seen, begin());
    return collect(std::move(seen), limit);
}

template <class Driver>
result<std::size_t> old_rows_purge<Driver>::remove(row_kind kind, numbers keys) {
    switch (kind) {
        case row_kind::received: return rows_changed(remove_received_, Driver::numbers(keys));
        case row_kind::changes: return rows_changed(remove_changes_, Driver::numbers(keys));
        case row_kind::sent: return remove_sent(keys);
        case row_kind::dead:
        case row_kind::expired:
        case row_kind::resolved: break;
    }
    POSTHORN_LET(messages, rows_changed(remove_closed_message_, Driver::numbers(keys),
                                        closed_status_of(kind)));
    POSTHORN_LET(left, rows_changed(remove_closed_, Driver::numbers(keys)));
    return messages + left;
}

template <class Driver>
result<slice_outcome> old_rows_purge<Driver>::purge(row_kind kind, wall_time before,
                                                    const slice& room) {
    POSTHORN_LET(old, find(kind, before, room.rows()));
    slice_outcome done;
    std::size_t tried = 0;
    while (tried < old.keys.size()) {
        if (tried > 0 && room.is_over()) break;
        // Few at first: rows may be large.
        const auto count = std::min(std::clamp<std::size_t>(tried / 4, 1, Driver::rows_per_delete),
                                    old.keys.size() - tried);
        POSTHORN_LET(gone, remove(kind, numbers(old.keys).subspan(tried, count)));
        tried += count;
        done.rows += gone;
    }
    // The same ones would be found again, without end.
    if (tried > 0 && done.rows == 0)
        return swallowed(fmt::format("every old row of the kind '{}'", to_string(kind)));
    done.more = tried < old.keys.size() || old.more;
    return done;
}

}  // namespace posthorn
