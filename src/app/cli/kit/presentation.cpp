#include "app/cli/kit/presentation.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <boost/nowide/utf/utf.hpp>
#include <fmt/format.h>

#include "base/assert.hpp"

namespace posthorn::cli {
namespace {

using namespace std::chrono;
namespace utf = boost::nowide::utf;

struct unit_of_time {
    std::string_view name;
    milliseconds size;
};

constexpr std::array units{unit_of_time{"d", days(1)}, unit_of_time{"h", hours(1)},
                           unit_of_time{"m", minutes(1)}, unit_of_time{"s", seconds(1)},
                           unit_of_time{"ms", milliseconds(1)}};
constexpr milliseconds duration_max = days(3653);

// Columns on a terminal: UTF-8's following bytes take none.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Control characters could move the cursor, and turns of direction show something else than there
// is.
bool is_harmful(utf::code_point c) {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/// Calls `take` with each character and its bytes; for invalid UTF-8, with what stands for it.
template <class Take>
void for_each_character(std::string_view text, Take take) {
    for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
        const char* const start = at;
        const auto c = utf::utf_traits<char>::decode(at, end);
        if (c == utf::illegal || c == utf::incomplete) {
            at = start + 1;  // The bytes behind the bad one may be good.
            take(utf::code_point{0xfffd}, "\uFFFD");
        } else {
            take(c, std::string_view(start, at));
        }
    }
}

std::string cut(std::string text, std::size_t size_max) {
    if (width_of(text) <= size_max) return text;
    std::size_t end = 0;
    for (std::size_t width = 0; end < text.size(); ++end) {
        if ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) continue;
        if (width++ == size_max - 1) break;
    }
    return text.substr(0, end) + "…";
}

}  // namespace

std::string to_age(milliseconds time) {
    time = std::max(time, milliseconds(0));
    for (const auto& unit : units) {
        const auto rounded = (time + unit.size / 2) / unit.size;
        if (rounded >= 2 || (rounded == 1 && time == unit.size))
            return fmt::format("{}{}", rounded, unit.name);
    }
    return "0s";
}

std::string to_distance(wall_time time, wall_time now) {
    if (time == now) return "now";
    return time < now ? to_age(now - time) + " ago" : "in " + to_age(time - now);
}

std::optional<milliseconds> parse_duration(std::string_view text) {
    milliseconds sum{};
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
        std::int64_t count = 0;
        const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), count);
        if (wrong != std::errc{} || count < 0) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        const auto name = text.substr(0, std::min(text.find_first_of("0123456789"), text.size()));
        const auto unit = std::ranges::find(units, name, &unit_of_time::name);
        if (unit == units.end() || count > duration_max / unit->size) return std::nullopt;
        sum += count * unit->size;
        if (sum > duration_max) return std::nullopt;
        text.remove_prefix(name.size());
    }
    return sum;
}

std::string to_cell(std::string_view text, std::size_t size_max) {
    std::string cell;
    for_each_character(text, [&](utf::code_point c, std::string_view bytes) {
        cell += is_harmful(c) ? " " : bytes;
    });
    return cut(std::move(cell), size_max);
}

std::string cut_to(std::string_view line, std::size_t columns) {
    return columns == 0 ? std::string() : cut(std::string(line), columns);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(" \n"), text.size());
        const auto word = text.substr(0, end);
        auto& line = lines.back();
        if (!line.empty() && width_of(line) + 1 + width_of(word) > columns)
            lines.emplace_back(word);
        else
            line += fmt::format("{}{}", line.empty() ? "" : " ", word);
        if (end < text.size() && text[end] == '\n') lines.emplace_back();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string to_shown(std::string_view text) {
    std::string shown;
    for_each_character(text, [&](utf::code_point c, std::string_view bytes) {
        if (is_harmful(c) && c != '\n' && c != '\t')
            fmt::format_to(std::back_inserter(shown), "\\u{:04x}", c);
        else
            shown += bytes;
    });
    return shown;
}

void text_table::add(std::vector<std::string> row) {
    POSTHORN_ASSERT(row.size() == rows_.front().size());
    for (auto& cell : row) cell = to_cell(cell, cell.size() + 1);  // Wherever it is from.
    rows_.push_back(std::move(row));
}

std::string text_table::to_text() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    std::string text;
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            if (i + 1 < row.size()) text.append(widths[i] - width_of(row[i]) + 2, ' ');
        }
        text += '\n';
    }
    return text;
}

std::string fit_table(std::string_view table, std::size_t columns) {
    if (columns == 0) return std::string(table);
    constexpr std::size_t last_column_min = 20;
    const auto heads = table.substr(0, table.find('\n'));
    const auto gap = heads.rfind("  ");  // Heads are ASCII: a byte is a column.
    const auto last = gap == std::string_view::npos ? 0 : gap + 2;
    const auto width = std::max(columns, last + last_column_min);
    std::string fitted;
    while (!table.empty()) {
        const auto end = std::min(table.find('\n'), table.size());
        fitted += cut(std::string(table.substr(0, end)), width) + '\n';
        table.remove_prefix(std::min(end + 1, table.size()));
    }
    return fitted;
}

}  // namespace posthorn::cli
