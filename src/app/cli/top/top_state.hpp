#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/kit/terminal.hpp"
#include "app/cli/top/overview.hpp"

namespace posthorn::cli {

/// What `posthorn top` shows, and where its user is in it.
struct top_state {
    enum class page : std::uint8_t { overview, destination, help };

    page shown = page::overview;
    overview node{};
    std::string selected{};  // A destination. Stays so while others come and go.
    std::string messages{};  // Of the selected one, as a table; on its page.
    std::string dead{};      // Likewise.
    std::string note{};      // What came of the last key.
    std::string trouble{};   // Why the node does not answer; what is shown is then old.
};

enum class top_key : std::uint8_t { up, down, enter, back, pause, resume, try_now, help, quit };

/// The keys in what a terminal sent; what is none is left out. Pure.
[[nodiscard]] std::vector<top_key> keys_in(std::string_view bytes);

/// What is to be done for a key, beside what it changed in the state.
enum class top_action : std::uint8_t { none, pause, resume, try_now, look, quit };

/// | key                | overview                | destination     | help     |
/// |--------------------|-------------------------|-----------------|----------|
/// | up, down (k, j)    | selects                 | selects another | -        |
/// | Enter              | opens the selected one  | -               | closes   |
/// | back (Esc, ⌫, ←)   | -                       | closes          | closes   |
/// | p, r, t            | of the selected one     | likewise        | -        |
/// | ?                  | opens                   | opens           | closes   |
/// | q                  | quits                   | quits           | quits    |
///
/// Without a destination there is nothing to open or to change. Pure.
[[nodiscard]] top_action step(top_state& state, top_key key);

/// Takes over what was seen of the node; the selection stays, or goes to the first. Pure.
void update(top_state& state, overview seen);

/// What a terminal of that size shows, a line for each row at most, none wider than it. Pure.
[[nodiscard]] std::vector<std::string> draw(const top_state& state, terminal_extent size);

}  // namespace posthorn::cli
