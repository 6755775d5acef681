#include "app/cli/kit/watch.hpp"

#include <ostream>

#include "app/cli/kit/colour.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

using std::chrono::milliseconds;

milliseconds interval(const show_choice& how) {
    return milliseconds(static_cast<std::int64_t>(how.watch_seconds * 1000));
}

}  // namespace

void show_choice::declare(CLI::App& options, kind what) {
    options
        .add_option("--color", colour, "states in colour: auto (on a terminal), always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->type_name("WHEN");
    if (what == kind::may_be_watched)
        options
            .add_option("--watch", watch_seconds,
                        "look again and again, every 2 seconds unless told")
            ->expected(0, 1)
            ->default_str("2")
            ->check(CLI::Range(0.1, 3600.0))
            ->type_name("[SECONDS]");
    add_json_flag(options, json);
}

bool show_choice::is_painted(const console& terminal) const {
    if (json || colour == "never") return false;
    return colour == "always" || terminal.colours;
}

std::string clip(std::string_view text, terminal_extent size) {
    std::string shown;
    for (std::size_t rows = 0; !text.empty() && rows < size.rows; ++rows) {
        const auto end = std::min(text.find('\n'), text.size());
        shown += cut_to(text.substr(0, end), size.columns) + '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return shown;
}

std::string to_frame(std::string_view clipped) {
    std::string frame = "\033[H";
    while (!clipped.empty()) {
        const auto end = std::min(clipped.find('\n'), clipped.size());
        frame += clipped.substr(0, end);
        clipped.remove_prefix(std::min(end + 1, clipped.size()));
        frame += clipped.empty() ? "\033[K" : "\033[K\n";  // At the last row it would scroll.
    }
    return frame + "\033[J";
}

watcher::watcher(const console& terminal, const show_choice& how)
    : terminal_(terminal),
      how_(how),
      ends_(how.is_watched() && !terminal.wait ? std::make_unique<interruption>() : nullptr) {}

terminal_extent watcher::size() const {
    // It may have been resized since.
    auto now = ends_ ? terminal_size() : terminal_extent{terminal_.columns, terminal_.rows};
    if (now.rows == 0) now.rows = 24;
    return now;
}

void watcher::show(const result<std::string>& seen) {
    const auto text = seen ? *seen : fmt::format("{}\n", to_shown(seen.error().what()));
    if (how_.json) {
        (seen ? terminal_.out : terminal_.err) << text << std::flush;
        return;
    }
    const auto time = to_iso8601(real_clock().wall());
    if (terminal_.columns == 0) {
        terminal_.out << (is_first_ ? "" : "\n") << time << '\n'
                      << (how_.is_painted(terminal_) ? paint_states(text) : text) << std::flush;
        return;
    }
    auto room = size();
    const auto head = fmt::format("{}, every {:g} s; Ctrl-C ends", time, how_.watch_seconds);
    room.rows -= std::min<std::size_t>(room.rows, 2);
    const auto clipped = clip(text, room);
    terminal_.out << (is_first_ ? "\033[2J" : "")
                  << to_frame(cut_to(head, room.columns) + "\n\n" +
                              (how_.is_painted(terminal_) ? paint_states(clipped) : clipped))
                  << std::flush;
}

bool watcher::wait() {
    if (!ends_) return terminal_.wait(interval(how_));
    using event = interruption::event;
    const auto seen = ends_->wait({.at_most = interval(how_)});
    return seen == event::time || seen == event::resize;
}

result<> watcher::run(const question& ask) {
    do {
        const auto seen = ask(size().columns);
        if (!seen && is_first_) return std::unexpected(seen.error());
        show(seen);
        is_first_ = false;
    } while (terminal_.out && wait());
    if (terminal_.columns > 0 && !how_.json) terminal_.out << '\n' << std::flush;
    return {};
}

}  // namespace posthorn::cli
