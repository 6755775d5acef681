#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

namespace posthorn::cli {

/// How long ago or how long yet, rounded, in the largest unit of which there are two at least, or a
/// whole number: `12s`, `3m`, `90m`, `1h`, `2d`.
[[nodiscard]] std::string to_age(std::chrono::milliseconds time);
/// `3m ago`, `in 2h`, `now`.
[[nodiscard]] std::string to_distance(wall_time time, wall_time now);

/// `250ms`, `90s`, `15m`, `24h`, `7d`, and such things in a row: `1h30m`. Empty for all else, and
/// for what is longer than ten years.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

inline constexpr std::size_t any_length = std::numeric_limits<std::size_t>::max();

/// One line of text: what would break a table or a terminal is replaced, the rest cut.
[[nodiscard]] std::string to_cell(std::string_view text, std::size_t size_max = 60);

/// The beginning of one line, if it is wider than so many columns.
[[nodiscard]] std::string cut_to(std::string_view line, std::size_t columns);

/// The lines of a text, each broken between words where it is wider than so many columns.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// Text for a terminal, in lines of its own: whatever could move the cursor, or show something else
/// than there is, is written as `\\u001b`. JSON stays the same JSON.
[[nodiscard]] std::string to_shown(std::string_view text);

/// Aligned columns for people.
///
/// `text_table t({"ID", "AGE"}); t.add({id, age}); out << t.to_text();`
class text_table {
public:
    explicit text_table(std::vector<std::string> heads) : rows_{std::move(heads)} {}

    void add(std::vector<std::string> row);
    [[nodiscard]] std::string to_text() const;

private:
    std::vector<std::vector<std::string>> rows_;  // The heads first.
};

/// The lines of a table as a terminal of so many columns takes them: the last column is cut, but not
/// below 20 characters. Zero columns cut nothing.
[[nodiscard]] std::string fit_table(std::string_view table, std::size_t columns);

}  // namespace posthorn::cli
