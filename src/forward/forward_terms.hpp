#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/forward.hpp>
#include <posthorn/message.hpp>

namespace posthorn {

inline constexpr std::string_view forward_prefix = "forward:";
inline constexpr std::size_t forward_target_max = 180;

/// Where work goes; each has a lane of its own, so that a target that is out holds no other up.
struct forward_place {
    std::string_view category;
    std::string_view target;
};

[[nodiscard]] std::string forward_destination(const forward_place& to);
/// Empty if the destination is another's. What it gives refers to the text.
[[nodiscard]] std::optional<forward_place> forward_place_of(std::string_view destination);
/// A word of at most 64 letters, digits, dots, hyphens and underscores.
[[nodiscard]] bool is_forward_category(std::string_view name) noexcept;

/// What a message carries along for its attempts, as its header `sf`.
struct forward_terms {
    std::chrono::milliseconds interval{30'000};
    bool attempts_first = false;  // Its first attempt is not one of the retries.
    std::string origin_instance{};
    std::string execution_id{};
    std::string source_script{};
    std::string parent_execution_id{};
};

[[nodiscard]] std::string write_forward_terms(const forward_terms& terms);
/// Those of the category's default where the headers say nothing that can be read.
[[nodiscard]] forward_terms read_forward_terms(std::string_view headers);

/// How many of `attempts` that were charged count as retries.
[[nodiscard]] constexpr std::int32_t forward_retries(std::int32_t attempts,
                                                     bool attempts_first) noexcept {
    return attempts_first && attempts > 0 ? attempts - 1 : attempts;
}
/// `message::max_retries` for a number of retries of which 0 is for ever: an outbox does not count
/// the first attempt, a sweep does.
[[nodiscard]] constexpr std::int32_t outbox_retries(std::int32_t max_retries,
                                                    bool attempts_first) noexcept {
    if (max_retries == 0) return retry_for_ever;
    return attempts_first ? max_retries : max_retries - 1;
}

}  // namespace posthorn
