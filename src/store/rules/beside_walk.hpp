#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <posthorn/detail/sql.hpp>

#include "store/old_rows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/statements/beside_sql.hpp"

namespace posthorn {

/// How many rows are wrong, without changing any.
template <class Driver>
result<std::int64_t> count_wrong(typename Driver::connection& database, beside_fault which,
                                 wall_time now) {
    constexpr auto first = std::numeric_limits<std::int64_t>::min();
    constexpr auto all = std::numeric_limits<std::int64_t>::max();
    std::int64_t wrong = 0;
    for (const auto& each : Driver::own(tables_beside(which))) {
        const auto sql =
            fmt::format("SELECT count(*) FROM ({}) AS looked_at WHERE wrong", each.find.sql);
        typename Driver::statement counting(database, sql);
        POSTHORN_LET(counted, each.find.asks_time ? counting.run(first, all, to_ms(now))
                                                  : counting.run(first, all));
        wrong += counted.front().integer(0);
    }
    return wrong;
}

/// Looks through several tables, one after the other, a slice at a time, and mends what is wrong.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
template <class Driver>
class beside_walk {
public:
    explicit beside_walk(typename Driver::connection& database) {
        for (const auto which : {beside_fault::odd, beside_fault::lost})
            for (const auto& each : Driver::own(tables_beside(which)))
                tables_.emplace_back(database, each);
    }

    result<slice_outcome> go_on(wall_time now, const slice& room);

private:
    using statement = typename Driver::statement;
    using numbers = std::span<const std::int64_t>;
    static constexpr auto beginning = std::numeric_limits<std::int64_t>::min();

    struct one_statement {
        one_statement(typename Driver::connection& database, const beside_sql::text& of)
            : made(database, of.sql), asks_time(of.asks_time) {}

        template <class... Args>
        result<typename Driver::rows> run(std::int64_t now, const Args&... args) {
            return asks_time ? made.run(args..., now) : made.run(args...);
        }

        statement made;
        bool asks_time;
    };
    struct table {
        table(typename Driver::connection& database, const beside_sql& texts)
            : find(database, texts.find) {
            for (const auto& each : texts.mend) mend.emplace_back(database, each);
        }
        one_statement find;
        std::deque<one_statement> mend;
    };

    static result<std::size_t> mend(table& one, numbers wrong, std::int64_t now);

    std::deque<table> tables_;
    std::size_t at_ = 0;
    std::int64_t after_ = beginning;
};

template <class Driver>
result<std::size_t> beside_walk<Driver>::mend(table& one, numbers wrong, std::int64_t now) {
    std::size_t mended = 0;
    for (std::size_t from = 0; from < wrong.size(); from += Driver::rows_per_delete) {
        const auto some =
            wrong.subspan(from, std::min(Driver::rows_per_delete, wrong.size() - from));
        for (auto& each : one.mend) {
            POSTHORN_LET(done, each.run(now, Driver::numbers(some)));
            mended += static_cast<std::size_t>(done.changed());
        }
    }
    return mended;
}

template <class Driver>
result<slice_outcome> beside_walk<Driver>::go_on(wall_time now, const slice& room) {
    auto& one = tables_[at_];
    const auto limit = static_cast<std::int64_t>(room.rows());
    std::size_t looked_at = 0;
    std::vector<std::int64_t> wrong;
    {
        POSTHORN_LET(seen, one.find.run(to_ms(now), after_, limit));
        POSTHORN_TRY(seen.each([&](const sql_row& row) {
            ++looked_at;
            after_ = row.integer(0);
            if (row.integer(1) != 0) wrong.push_back(after_);
        }));
    }
    if (looked_at < room.rows()) {
        at_ = (at_ + 1) % tables_.size();
        after_ = beginning;
    }
    POSTHORN_LET(mended, mend(one, wrong, to_ms(now)));
    return slice_outcome{.rows = mended, .more = at_ != 0 || after_ != beginning};
}

}  // namespace posthorn
