#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "feature/settings.hpp"
#include "forward/forward_rows.hpp"

namespace posthorn {

/// How much may be held, parked work included. Zero is no limit.
struct buffer_cap {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    std::chrono::milliseconds age{};

    [[nodiscard]] bool limits_size() const noexcept { return messages > 0 || bytes > 0; }
    bool operator==(const buffer_cap&) const = default;
};

/// What is done where as much is held as may be.
enum class when_full : std::uint8_t {
    reject,         // New work is refused.
    drop_oldest,    // The oldest goes.
    drop_category,  // The oldest of the category that is worth least goes.
};

/// The caps of a site. What is too old goes, whatever is done where it is full.
struct buffer_rules {
    buffer_cap whole{};
    std::map<std::string, buffer_cap, std::less<>> categories{};
    when_full then = when_full::reject;
    std::vector<std::string> lowest_first{};  // Others are worth more than these.

    [[nodiscard]] bool any() const;
};

/// `error_code::invalid_configuration` with what to write. Those of categories come with them.
[[nodiscard]] result<buffer_rules> read_buffer_rules(const feature_settings& said);
[[nodiscard]] result<> check_cap(const buffer_cap& one, std::string_view of);

/// So much has to go.
struct drop_wish {
    std::string category{};  // Of any, if empty.
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    std::string why{};

    bool operator==(const drop_wish&) const = default;
};

/// What has to go to be within the caps again: first of categories that have their own, then of all
/// together. None where new work is refused instead. Pure.
[[nodiscard]] std::vector<drop_wish> wishes_of(const buffer_rules& rules,
                                               std::vector<forward_total> held);
/// How many of the rows, which come with the oldest first, have to go for a wish. Pure.
[[nodiscard]] std::size_t to_drop(const drop_wish& wish, std::span<const held_work> oldest);

/// Where there is no room for more: the names of categories, or empty for all together. Pure.
[[nodiscard]] std::vector<std::string> full_ones(const buffer_rules& rules,
                                                 const std::vector<forward_total>& held);

}  // namespace posthorn
