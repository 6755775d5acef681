#include "app/cli/kit/colour.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

namespace posthorn::cli {
namespace {

struct meaning {
    std::string_view word;
    int colour;  // Of the terminal's sixteen, which its user has chosen.
};

constexpr int red = 31;
constexpr int green = 32;
constexpr int yellow = 33;
constexpr std::array meanings{
    meaning{"red", red},        meaning{"Dead", red},       meaning{"Expired", red},
    meaning{"open", red},       meaning{"no_route", red},   meaning{"given-up", red},
    meaning{"yellow", yellow},  meaning{"paused", yellow},  meaning{"throttled", yellow},
    meaning{"probing", yellow}, meaning{"at work", yellow}, meaning{"green", green},
    meaning{"Sent", green},     meaning{"running", green},  meaning{"processed", green},
};

/// Where a word begins and ends in a line, in bytes.
struct place {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// The byte at which a column of the screen begins; UTF-8's following bytes take none.
std::size_t byte_at(std::string_view line, std::size_t column) {
    std::size_t at = 0;
    for (; at < line.size(); ++at) {
        if ((static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) continue;
        if (column-- == 0) break;
    }
    return at;
}

/// The column of STATE or STATUS, if the line is a table's heads.
std::optional<std::size_t> state_column(std::string_view line) {
    if (constexpr std::string_view cut = "…"; line.ends_with(cut)) line.remove_suffix(cut.size());
    const bool is_heads = !line.empty() && std::ranges::none_of(line, [](char c) {
        return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    });
    if (!is_heads) return std::nullopt;
    for (const std::string_view head : {"STATE", "STATUS"}) {
        const auto at = line.find(head);
        if (at == line.npos || (at > 0 && !line.substr(0, at).ends_with("  "))) continue;
        const auto behind = line.substr(at + head.size());
        if (behind.empty() || behind.starts_with("  ")) return at;
    }
    return std::nullopt;
}

place cell_at(std::string_view line, std::size_t column) {
    const auto begin = byte_at(line, column);
    return {begin, std::min(line.find("  ", begin), line.size())};
}

/// The value of `status   Dead` and `state   given-up`.
std::optional<place> named_state(std::string_view line) {
    if (!line.starts_with("status ") && !line.starts_with("state ")) return std::nullopt;
    const auto begin = line.find_first_not_of(' ', line.find(' '));
    return begin == line.npos ? std::nullopt : std::optional(place{begin, line.size()});
}

std::string painted(std::string_view line, place word) {
    const auto text = line.substr(word.begin, word.end - word.begin);
    const auto found = std::ranges::find(meanings, text, &meaning::word);
    if (found == meanings.end()) return std::string(line);
    return fmt::format("{}\033[{}m{}\033[0m{}", line.substr(0, word.begin), found->colour, text,
                       line.substr(word.end));
}

std::optional<place> light_of(std::string_view line) {
    const auto gap = line.rfind(' ');
    if (gap == line.npos) return std::nullopt;
    const auto word = line.substr(gap + 1);
    if (word != "green" && word != "yellow" && word != "red") return std::nullopt;
    return place{gap + 1, line.size()};
}

}  // namespace

std::string paint_states(std::string_view text) {
    std::string shown;
    std::optional<std::size_t> column;
    for (bool first = true; !text.empty(); first = false) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        auto state = column ? std::optional(cell_at(line, *column)) : named_state(line);
        if (const auto heads = state_column(line))
            column = heads;
        else if (line.empty())
            column.reset();
        if (first && !state) state = light_of(line);
        shown += state ? painted(line, *state) : std::string(line);
        if (end < text.size()) shown += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return shown;
}

}  // namespace posthorn::cli
