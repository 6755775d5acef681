#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/uuid.hpp>

#include "store/store.hpp"

namespace posthorn {

/// All that is kept of a message that was taken in. What it said is not: its effect is.
struct inbox_detail {
    inbox_summary summary{};
    std::string body_hash{};    // In hexadecimal; another body under this id is refused.
    std::string claim_owner{};  // While an external handler is at it.
    std::string response{};     // What the handler answered, and repeats are answered.
};

/// Which one: ids are the senders' own, so two senders may use the same.
struct inbox_question {
    uuid id{};
    std::string_view source{};  // Every sender if empty.
};

/// Those that a list would show of one id, found by it; as many as there are senders of it.
[[nodiscard]] result<inbox_list> find_inbox(store& where, const uuid& id,
                                            const inbox_filter& wanted);

/// One for each sender of that id, none if it is not remembered. Blocks; reads a row for each sender
/// that there is, however many messages.
[[nodiscard]] result<std::vector<inbox_detail>> show_inbox(store& where,
                                                           const inbox_question& asked);

}  // namespace posthorn
