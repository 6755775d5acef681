#include <algorithm>

#include <fmt/format.h>

#include "app/cli/kit/presentation.hpp"
#include "app/cli/top/top_state.hpp"

namespace posthorn::cli {
namespace {

using lines = std::vector<std::string>;

constexpr std::size_t reasons_max = 4;
constexpr std::size_t name_columns_max = 24;

lines lines_of(std::string_view text) {
    lines all;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        all.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

void append(lines& to, lines more) { std::ranges::move(more, std::back_inserter(to)); }

std::string rate_text(std::optional<double> rate) {
    return rate ? fmt::format("{:.1f}/s", *rate) : "-";
}
std::string time_text(std::optional<double> ms) { return ms ? fmt::format("{:.1f} ms", *ms) : "-"; }
std::string age_text(std::optional<std::chrono::milliseconds> age) {
    return age ? to_age(*age) : "-";
}

lines head_of(const top_state& state) {
    const auto& node = state.node;
    lines all{fmt::format("{} {}", node.service, node.light)};
    if (!state.trouble.empty()) all.push_back("  no answer, so this is old: " + state.trouble);
    for (std::size_t i = 0; i < std::min(node.reasons.size(), reasons_max); ++i)
        all.push_back("  " + node.reasons[i]);
    if (node.reasons.size() > reasons_max)
        all.push_back(
            fmt::format("  and {} more; see 'posthorn health'", node.reasons.size() - reasons_max));
    all.push_back(fmt::format("out {}  in {}  sending {}  handling {}",
                              rate_text(node.sent_per_second), rate_text(node.received_per_second),
                              time_text(node.send_ms), time_text(node.process_ms)));
    all.push_back(fmt::format("waiting {}  dead {}  expired {}  blocked {}", node.pending,
                              node.dead, node.expired, node.blocked));
    return all;
}

lines table_of_lanes(const top_state& state) {
    text_table table({"  DESTINATION", "STATE", "WAITING", "OLDEST", "OUT", "WHY"});
    for (const auto& one : state.node.lanes)
        table.add({fmt::format("{}{}", one.destination == state.selected ? "> " : "  ",
                               to_cell(one.destination, name_columns_max)),
                   one.state, std::to_string(one.waiting), age_text(one.oldest),
                   rate_text(one.sent_per_second), one.why});
    return lines_of(table.to_text());
}

lines table_of_queues(const overview& node) {
    text_table table({"  QUEUE", "WAITING", "TAKEN", "GIVEN UP", "OLDEST"});
    for (const auto& one : node.queues)
        table.add({"  " + to_cell(one.name, name_columns_max), std::to_string(one.waiting),
                   std::to_string(one.taken), std::to_string(one.given_up), age_text(one.oldest)});
    return lines_of(table.to_text());
}

/// The heads, and so many rows that it fits, with the one at `kept` among them.
lines window(lines table, std::size_t rows_max, std::size_t kept) {
    if (table.size() <= rows_max || rows_max < 2) {
        table.resize(std::min(table.size(), rows_max));
        return table;
    }
    const auto shown = static_cast<std::ptrdiff_t>(rows_max) - 1;
    const auto last = std::ssize(table) - 1;
    const auto first =
        std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(kept) - shown / 2, 0, last - shown);
    lines part{std::move(table.front())};
    for (std::ptrdiff_t i = 0; i < shown; ++i)
        part.push_back(std::move(table[static_cast<std::size_t>(1 + first + i)]));
    return part;
}

lines overview_of(const top_state& state, std::size_t rows) {
    auto all = head_of(state);
    const auto& lanes = state.node.lanes;
    const auto used = all.size() + 1;  // And a line between.
    const auto left = rows > used ? rows - used : 0;
    lines queues;
    if (!state.node.queues.empty()) queues = window(table_of_queues(state.node), left / 3, 0);
    const auto for_lanes = left - (queues.empty() ? 0 : queues.size() + 1);
    all.emplace_back();
    if (lanes.empty()) {
        if (for_lanes > 0) all.emplace_back("  nothing was sent yet, and nothing waits");
    } else {
        const auto at = std::ranges::find(lanes, state.selected, &overview::lane::destination);
        append(all, window(table_of_lanes(state), for_lanes,
                           static_cast<std::size_t>(at - lanes.begin())));
    }
    if (!queues.empty()) {
        all.emplace_back();
        append(all, std::move(queues));
    }
    return all;
}

lines destination_of(const top_state& state, std::size_t rows) {
    const auto& lanes = state.node.lanes;
    const auto at = std::ranges::find(lanes, state.selected, &overview::lane::destination);
    lines all;
    if (at != lanes.end()) {
        all.push_back(fmt::format("{} {}", state.selected, at->state));
        if (!at->why.empty()) all.push_back("  " + at->why);
        all.push_back(fmt::format("waiting {}, the oldest for {}; out {}", at->waiting,
                                  age_text(at->oldest), rate_text(at->sent_per_second)));
    }
    if (!state.trouble.empty()) all.push_back("no answer, so this is old: " + state.trouble);
    const auto left = rows > all.size() + 4 ? rows - all.size() - 4 : 0;
    const auto dead = window(lines_of(state.dead), std::max<std::size_t>(left / 2, 1), 0);
    const auto messages = window(lines_of(state.messages), left - std::min(left, dead.size()), 0);
    append(all, {"", "dead"});
    append(all, dead);
    append(all, {"", "newest"});
    append(all, messages);
    return all;
}

lines help() {
    return {"j, k or arrows  select a destination",
            "Enter           show its messages and dead letters; Esc goes back",
            "p               pause it: nothing is sent there",
            "r               resume it",
            "t               try it now, without waiting for the next probe",
            "?               this help",
            "q               quit",
            "",
            "Changes need an operator's key: --key or POSTHORN_ADMIN_KEY."};
}

lines foot_of(const top_state& state, std::size_t columns) {
    if (!state.note.empty()) return wrapped(state.note, columns);
    switch (state.shown) {
        case top_state::page::help: return {"?: back  q: quit"};
        case top_state::page::destination:
            return {"Esc: back  j/k: another  p: pause  r: resume  t: try now  q: quit"};
        case top_state::page::overview: break;
    }
    return {"j/k: select  Enter: messages  p: pause  r: resume  t: try now  ?: help  q: quit"};
}

lines body_of(const top_state& state, std::size_t rows) {
    switch (state.shown) {
        case top_state::page::help: return help();
        case top_state::page::destination: return destination_of(state, rows);
        case top_state::page::overview: break;
    }
    return overview_of(state, rows);
}

}  // namespace

std::vector<std::string> draw(const top_state& state, terminal_extent size) {
    if (size.rows == 0 || size.columns == 0) return {};
    auto foot = foot_of(state, size.columns);
    foot.resize(std::min(foot.size(), size.rows));
    const auto rows = size.rows - foot.size();
    auto shown = body_of(state, rows);
    shown.resize(rows);
    append(shown, std::move(foot));
    for (auto& each : shown) each = cut_to(each, size.columns);
    return shown;
}

}  // namespace posthorn::cli
