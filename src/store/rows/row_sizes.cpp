#include "store/rows/row_sizes.hpp"

#include <limits>

namespace posthorn {
namespace {

constexpr std::size_t id_bytes_max = 64;  // And of the type's name.

struct limit {
    std::size_t bytes = 0;
    std::string_view key;  // Of the configuration.
};

std::array<limit, sized_columns.size()> limits_of_columns(const message_limits& limits) {
    const limit name{limits.name_size_max, "limits.name"};
    const limit text{limits.text_size_max, "limits.text"};
    const limit id{id_bytes_max, "fixed"};
    return {limit{limits.payload_size_max, "limits.payload"},
            limit{limits.headers_size_max, "limits.message_headers"},
            name,
            name,
            name,
            text,
            text,
            text,
            text,
            id,
            id,
            id,
            id};
}

}  // namespace

std::int64_t row_bytes_max(const message_limits& limits) noexcept {
    constexpr auto most = std::numeric_limits<std::int64_t>::max() / 4;
    std::int64_t sum = 0;
    for (const auto& one : limits_of_columns(limits))
        sum = one.bytes > static_cast<std::size_t>(most - sum)
                  ? most
                  : sum + static_cast<std::int64_t>(one.bytes);
    return sum;
}

std::size_t sum_of(const column_sizes& sizes) noexcept {
    std::size_t sum = 0;
    for (const auto size : sizes) sum += size > 0 ? static_cast<std::size_t>(size) : 0;
    return sum;
}

result<> check_sizes(const column_sizes& sizes, const message_limits& limits) {
    constexpr std::size_t contents = 2;  // Payload and headers.
    const auto of = limits_of_columns(limits);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] <= 0 || static_cast<std::size_t>(sizes[i]) <= of[i].bytes) continue;
        if (i < contents)
            return fail(error_code::message_too_large,
                        "the column {} has {} bytes and at most {} are allowed ({}); send a "
                        "reference to the content instead",
                        sized_columns[i], sizes[i], of[i].bytes, of[i].key);
        return fail(error_code::invalid_argument,
                    "the column {} has {} bytes; at most {} are allowed ({})", sized_columns[i],
                    sizes[i], of[i].bytes, of[i].key);
    }
    return {};
}

}  // namespace posthorn
