#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "store/dead_letters.hpp"
#include "store/rows/dead_rows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/statements/dead_letter_pages_sql.hpp"

namespace posthorn {

/// The messages that were given up, as a reading connection sees them: which of them make a page,
/// and how far a search looks.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
template <class Driver>
class dead_letter_pages final : public dead_letter_reader {
public:
    explicit dead_letter_pages(typename Driver::connection& database,
                               const dead_letter_pages_sql& texts = dead_letter_pages_texts)
        : down_(database, texts.down),
          up_(database, texts.up),
          highest_(database, texts.highest),
          one_(database, texts.by_seq),
          by_id_(database, texts.by_id),
          groups_(database, texts.groups),
          ungrouped_(database, texts.ungrouped) {}

    result<dead_page> list(const dead_filter& wanted, std::int64_t before_seq,
                           std::size_t limit) override;
    result<dead_slice> find(const dead_filter& wanted, std::int64_t after_seq,
                            std::size_t limit) override;
    result<std::optional<dead_letter_row>> row(const uuid& id) override;
    result<dead_groups> groups(std::string_view destination, std::size_t limit) override;

private:
    // A page ends after so many rows, found or not.
    static constexpr std::int64_t rows_looked_at_max = 10'000;
    // Whole payloads are read to tell the states of messages.
    static constexpr std::size_t bytes_per_page_max = std::size_t{8} << 20;
    static constexpr std::int64_t ungrouped_count_max = 1'000;

    struct walk {
        walk(typename Driver::connection& database, const dead_letter_walk_sql& texts)
            : of_status(database, texts.of_status), of_cause(database, texts.of_cause) {}
        result<typename Driver::rows> begin(const dead_filter& wanted, std::int64_t from) {
            constexpr auto limit = rows_looked_at_max + 1;
            return wanted.cause > 0 ? of_cause.run(from, wanted.cause, limit)
                                    : of_status.run(from, to_string(wanted.status), limit);
        }
        typename Driver::statement of_status;
        typename Driver::statement of_cause;
    };

    walk down_;
    walk up_;
    typename Driver::statement highest_;
    typename Driver::statement one_;
    typename Driver::statement by_id_;
    typename Driver::statement groups_;
    typename Driver::statement ungrouped_;
};

template <class Driver>
result<dead_page> dead_letter_pages<Driver>::list(const dead_filter& wanted,
                                                  std::int64_t before_seq, std::size_t limit) {
    limit = std::min(limit, list_rows_max);
    const auto top = before_seq > 0 ? before_seq : std::numeric_limits<std::int64_t>::max();
    POSTHORN_LET(found, down_.begin(wanted, top));
    dead_page page;
    std::int64_t last = 0;
    std::size_t bytes = 0;
    for (std::int64_t looked_at = 0;; ++looked_at) {
        POSTHORN_LET(keys, found.next());
        if (keys == nullptr) return page;
        if (page.rows.size() >= limit || looked_at >= rows_looked_at_max ||
            bytes >= bytes_per_page_max)
            break;  // And there is one more row.
        last = keys->integer(0);
        if (!fits(*keys, wanted)) continue;
        POSTHORN_LET(whole, one_.run(last));
        if (whole.empty()) continue;
        page.rows.push_back(read_dead_row(whole.front()));
        bytes += whole.front().text(payload_column).size();
    }
    page.next = last;
    return page;
}

template <class Driver>
result<dead_slice> dead_letter_pages<Driver>::find(const dead_filter& wanted,
                                                   std::int64_t after_seq, std::size_t limit) {
    dead_slice slice;
    {
        POSTHORN_LET(highest, highest_.run(to_string(wanted.status)));
        if (!highest.empty()) slice.highest = highest.front().integer(0);
    }
    POSTHORN_LET(found, up_.begin(wanted, after_seq));
    std::int64_t last = 0;
    for (std::int64_t looked_at = 0;; ++looked_at) {
        POSTHORN_LET(keys, found.next());
        if (keys == nullptr) return slice;
        if (slice.seqs.size() >= limit || looked_at >= rows_looked_at_max) break;
        last = keys->integer(0);
        if (fits(*keys, wanted)) slice.seqs.push_back(last);
    }
    slice.next = last;
    return slice;
}

template <class Driver>
result<std::optional<dead_letter_row>> dead_letter_pages<Driver>::row(const uuid& id) {
    POSTHORN_LET(found, by_id_.run(id));
    if (found.empty()) return std::nullopt;
    return read_dead_row(found.front());
}

template <class Driver>
result<dead_groups> dead_letter_pages<Driver>::groups(std::string_view destination,
                                                      std::size_t limit) {
    dead_groups page;
    {
        POSTHORN_LET(counted, ungrouped_.run(std::int64_t{ungrouped_count_max}));
        page.ungrouped = counted.front().integer(0);
    }
    limit = std::min(limit, dead_groups_max);
    POSTHORN_LET(found, groups_.run(destination, static_cast<std::int64_t>(limit + 1)));
    for (;;) {
        POSTHORN_LET(one, found.next());
        if (one == nullptr) return page;
        page.more = page.groups.size() >= limit;
        if (page.more) return page;
        page.groups.push_back({.cause = one->integer(0),
                               .destination = std::string(one->text(1)),
                               .endpoint = std::string(one->text(2)),
                               .text = std::string(one->text(3)),
                               .count = one->integer(4),
                               .first_at = from_ms(one->integer(5)),
                               .last_at = from_ms(one->integer(6)),
                               .example = std::string(one->text(7))});
    }
}

}  // namespace posthorn
