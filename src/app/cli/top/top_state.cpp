#include "app/cli/top/top_state.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace posthorn::cli {
namespace {

struct key_bytes {
    std::string_view bytes;
    top_key key;
};

// Longer ones first: an escape alone is a key, too.
constexpr std::array known_keys{
    key_bytes{"\033[A", top_key::up},   key_bytes{"\033[B", top_key::down},
    key_bytes{"\033[D", top_key::back}, key_bytes{"\033OA", top_key::up},
    key_bytes{"\033OB", top_key::down}, key_bytes{"\033OD", top_key::back},
    key_bytes{"\033", top_key::back},   key_bytes{"\177", top_key::back},
    key_bytes{"k", top_key::up},        key_bytes{"j", top_key::down},
    key_bytes{"\r", top_key::enter},    key_bytes{"\n", top_key::enter},
    key_bytes{"p", top_key::pause},     key_bytes{"r", top_key::resume},
    key_bytes{"t", top_key::try_now},   key_bytes{"?", top_key::help},
    key_bytes{"q", top_key::quit},
};

void select_by(top_state& state, std::ptrdiff_t steps) {
    const auto& lanes = state.node.lanes;
    if (lanes.empty()) return;
    const auto at = std::ranges::find(lanes, state.selected, &overview::lane::destination);
    const auto next = (at == lanes.end() ? 0 : at - lanes.begin()) + steps;
    const auto inside = std::clamp<std::ptrdiff_t>(next, 0, std::ssize(lanes) - 1);
    state.selected = lanes[static_cast<std::size_t>(inside)].destination;
}

}  // namespace

std::vector<top_key> keys_in(std::string_view bytes) {
    std::vector<top_key> keys;
    while (!bytes.empty()) {
        const auto found = std::ranges::find_if(
            known_keys, [&](const key_bytes& each) { return bytes.starts_with(each.bytes); });
        // Another key that sends a sequence is none of ours, and its letters are not either.
        const bool is_other = bytes.size() > 2 && bytes.starts_with("\033[") &&
                              (found == known_keys.end() || found->bytes.size() == 1);
        if (is_other) {
            const auto end =
                std::ranges::find_if(bytes.substr(2), [](char c) { return c >= '@' && c <= '~'; });
            bytes.remove_prefix(
                std::min(bytes.size(), static_cast<std::size_t>(end - bytes.begin()) + 1));
            continue;
        }
        if (found != known_keys.end()) keys.push_back(found->key);
        bytes.remove_prefix(found == known_keys.end() ? 1 : found->bytes.size());
    }
    return keys;
}

top_action step(top_state& state, top_key key) {
    using page = top_state::page;
    state.note.clear();
    if (key == top_key::quit) return top_action::quit;
    if (state.shown == page::help) {
        if (key == top_key::help || key == top_key::back || key == top_key::enter)
            state.shown = page::overview;
        return top_action::none;
    }
    const bool is_open = state.shown == page::destination;
    const bool has_one = !state.selected.empty();
    switch (key) {
        case top_key::up:
        case top_key::down:
            select_by(state, key == top_key::up ? -1 : 1);
            return is_open ? top_action::look : top_action::none;
        case top_key::enter:
            if (is_open || !has_one) return top_action::none;
            state.shown = page::destination;
            state.messages.clear();
            state.dead.clear();
            return top_action::look;
        case top_key::back: state.shown = page::overview; return top_action::none;
        case top_key::pause: return has_one ? top_action::pause : top_action::none;
        case top_key::resume: return has_one ? top_action::resume : top_action::none;
        case top_key::try_now: return has_one ? top_action::try_now : top_action::none;
        case top_key::help: state.shown = page::help; return top_action::none;
        case top_key::quit: break;
    }
    return top_action::quit;
}

void update(top_state& state, overview seen) {
    state.node = std::move(seen);
    state.trouble.clear();
    const auto& lanes = state.node.lanes;
    if (std::ranges::find(lanes, state.selected, &overview::lane::destination) != lanes.end())
        return;
    state.selected = lanes.empty() ? "" : lanes.front().destination;
    if (state.shown == top_state::page::destination)  // The one that it was about is gone.
        state.shown = top_state::page::overview;
}

}  // namespace posthorn::cli
