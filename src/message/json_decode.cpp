#include <fmt/format.h>
#include <fmt/ranges.h>

#include <posthorn/json/decode.hpp>

namespace posthorn::detail {

void fail_missing(const json_path& above, std::string_view name) {
    fail_at({.above = &above, .name = name}, "is missing");
}

void fail_choice(const json_reader& at, const std::string_view* names, std::size_t count) {
    // What was given may be long, or secret; what is possible is neither.
    at.fail(fmt::format("is none of: {}", fmt::join(names, names + count, ", ")));
}

}  // namespace posthorn::detail
