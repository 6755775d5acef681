#pragma once

#include <string>
#include <string_view>

#include "store/inspection.hpp"

namespace posthorn {

/// What a message says, beside its summary.
struct message_content {
    std::string_view payload{};
    std::string_view headers{};
    std::string_view content_type{};
};

/// A short text that differs whenever anything of a message differs that an operator decides by:
/// its status, its attempts, where it goes and what it says. Two who look see the same text, so who
/// changes a message can say which one was meant. Pure; no protection against forgery.
[[nodiscard]] std::string message_state(const message_summary& summary,
                                        const message_content& content);

}  // namespace posthorn
