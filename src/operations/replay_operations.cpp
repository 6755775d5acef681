#include "operations/replay_operations.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/async/run_on.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "base/time/time_range.hpp"
#include "store/async.hpp"
#include "store/sqlite/tables/outbox_replay.hpp"

namespace posthorn {
namespace {

constexpr std::size_t shown_characters_max = 64;

/// Where a slice begins, as `next` says it: `1771070400000.42`, a time and a seq.
std::optional<sqlite::replay_progress> read_place(std::string_view text) {
    sqlite::replay_progress place;
    const auto* const end = text.data() + text.size();
    const auto time = std::from_chars(text.data(), end, place.after_sent_at);
    if (time.ec != std::errc{} || time.ptr == end || *time.ptr != '.') return std::nullopt;
    const auto seq = std::from_chars(time.ptr + 1, end, place.after_seq);
    if (seq.ec != std::errc{} || seq.ptr != end) return std::nullopt;
    return place;
}

sqlite::replay_progress place_of(const replay_query& asked) {
    return read_place(asked.after).value_or(sqlite::replay_progress{});
}

sqlite::replay_range range_of(const replay_query& asked) {
    return {.since = asked.since, .until = asked.until, .destination = asked.destination};
}

replay_done told(const sqlite::replay_progress& seen) {
    replay_done done{.replayed = seen.replayed, .expired = seen.expired};
    if (!seen.is_done) done.next = fmt::format("{}.{}", seen.after_sent_at, seen.after_seq);
    return done;
}

error not_on_a_server() {
    return {error_code::invalid_argument,
            "delivered messages are sent again where the outbox is a SQLite file; this one is on a "
            "server, from which they cannot be replayed yet"};
}

result<sqlite::replay_progress> count(store_reader& from, const replay_query& asked,
                                      wall_time now) {
    constexpr std::size_t rows_at_once = 1'000;
    auto all = place_of(asked);
    for (std::size_t seen = 0; seen < replay_count_rows && !all.is_done; seen += rows_at_once) {
        POSTHORN_LET(slice, sqlite::count_sent(from, range_of(asked), now, all, rows_at_once));
        all = slice;
    }
    return all;
}

}  // namespace

result<replay_query> parse_replay_query(std::string_view query, wall_time now) {
    replay_query asked;
    time_range when;
    const auto read_one = [&](std::string_view name, const std::string& value) -> result<> {
        if (name == "since") return read_time(name, value, when.since);
        if (name == "until") return read_time(name, value, when.until);
        const auto refuse = [&](std::string_view why) {
            return fail(error_code::invalid_argument, "{} cannot be '{}'; {}", name,
                        clean_utf8(value, shown_characters_max), why);
        };
        if (name == "destination") {
            if (value.empty()) return refuse("name one, or leave it out");
            asked.destination = value;
        } else if (name == "after") {
            if (!read_place(value)) return refuse("give the next of the slice before");
            asked.after = value;
        } else if (name == "database") {
            if (value != "inbox" && value != "main") return refuse("there are main and inbox");
            asked.of_inbox = value == "inbox";
        } else {
            return fail(error_code::invalid_argument,
                        "'{}' cannot be asked for; use since, until, destination, after, or "
                        "database=inbox",
                        clean_utf8(name, shown_characters_max));
        }
        return {};
    };
    POSTHORN_TRY(for_each_parameter(query, read_one));
    if (!when.since)
        return fail(error_code::invalid_argument,
                    "say since when, such as since=2026-02-14T12:00:00Z: the time of the "
                    "receiver's backup");
    if (!asked.after.empty() && !when.until)
        return fail(error_code::invalid_argument,
                    "give until, as the slice before has told it, with after: what was sent again "
                    "meanwhile is acknowledged anew");
    asked.since = *when.since;
    asked.until = when.until.value_or(now);
    POSTHORN_TRY(check_times({.since = asked.since, .until = asked.until}, now));
    return asked;
}

task<result<replay_done>> replay_slice_of(dead_place at, replay_query asked) {
    if (at.where.upkeep() == nullptr) co_return std::unexpected(not_on_a_server());
    sqlite::replay_progress after;  // Of the last run; a unit may run twice.
    POSTHORN_CO_TRY(co_await commit(at.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(slice, sqlite::replay_sent(tx, range_of(asked), at.now, place_of(asked),
                                                replay_slice_rows));
        after = slice;
        return {};
    }));
    co_return told(after);
}

task<result<replay_done>> count_replay(dead_place at, replay_query asked) {
    if (at.where.upkeep() == nullptr) co_return std::unexpected(not_on_a_server());
    co_return co_await run_on(at.readers, [&]() -> result<replay_done> {
        replay_done done;
        POSTHORN_TRY(at.where.read([&](store_reader& from) -> result<> {
            POSTHORN_LET(seen, count(from, asked, at.now));
            done = told(seen);
            return {};
        }));
        return done;
    });
}

}  // namespace posthorn
