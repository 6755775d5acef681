#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/interruption.hpp"
#include "app/cli/kit/terminal.hpp"

namespace posthorn::cli {

/// The options that say how an answer is shown: `--json`, `--color` and `--watch`.
struct show_choice {
    bool json = false;
    std::string colour = "auto";
    double watch_seconds = 0;  // Zero: once.

    enum class kind : unsigned char { once, may_be_watched };
    void declare(CLI::App& options, kind what);
    [[nodiscard]] bool is_watched() const noexcept { return watch_seconds > 0; }
    [[nodiscard]] bool is_painted(const console& terminal) const;
};

/// What a terminal of that size shows of a text: its first lines, cut to the width. Pure.
[[nodiscard]] std::string clip(std::string_view text, terminal_extent size);
/// Draws a clipped text: what is there is overwritten line by line, so that nothing flickers. Pure.
[[nodiscard]] std::string to_frame(std::string_view clipped);

/// Asks and shows again and again until it is told to end: on a terminal in place, elsewhere one
/// block after the other, and with `--json` one line after the other.
///
/// Lifetime: made before what it asks, see `interruption`.
class watcher {
public:
    watcher(const console& terminal, const show_choice& how);

    /// The answer, as text that fits into so many columns, or as JSON.
    using question = std::function<result<std::string>(std::size_t columns)>;
    /// An error of the first look is an error; later ones are shown, since what is watched may go
    /// away and come back.
    result<> run(const question& ask);

private:
    void show(const result<std::string>& seen);
    [[nodiscard]] bool wait();
    [[nodiscard]] terminal_extent size() const;

    const console& terminal_;
    const show_choice& how_;
    std::unique_ptr<interruption> ends_;  // None where the console itself waits.
    bool is_first_ = true;
};

}  // namespace posthorn::cli
