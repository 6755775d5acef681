#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "standby/archive/archive_format.hpp"

namespace posthorn::standby {

/// A history of commits without a gap: segments that follow from each other, and bases that they
/// can be played over. It lies in a folder of its own.
struct stretch {
    struct kept_segment {
        segment_facts facts{};
        std::uint64_t file_bytes = 0;
        bool operator==(const kept_segment&) const = default;
    };
    struct kept_base {
        base_facts facts{};
        std::uint64_t file_bytes = 0;
        bool operator==(const kept_base&) const = default;
    };

    std::filesystem::path folder{};
    std::vector<kept_segment> segments{};  // By number.
    std::vector<kept_base> bases{};        // By `whole`.
    std::vector<std::string> damaged{};    // Files whose heads cannot be read.

    [[nodiscard]] std::filesystem::path file_of(const segment_facts& of) const {
        return folder / segment_name(of.number);
    }
    [[nodiscard]] std::filesystem::path file_of(const base_facts& of) const {
        return folder / base_name(of.whole);
    }
    [[nodiscard]] const kept_segment* find(std::uint64_t number) const;
    /// From the oldest base on that can be used at all; empty where none can.
    [[nodiscard]] std::optional<wall_time> oldest() const;
    [[nodiscard]] std::optional<wall_time> newest() const;
    [[nodiscard]] std::uint64_t bytes() const;
    bool operator==(const stretch&) const = default;
};

/// Numbers between the first and the last segment of which there is none: files that were lost.
[[nodiscard]] std::vector<std::uint64_t> missing_segments(const stretch& of);
/// A time between two stretches of which nothing is archived.
struct archive_gap {
    wall_time from{};
    std::optional<wall_time> to{};  // Empty while nothing can be restored after it.
    bool operator==(const archive_gap&) const = default;
};
/// Pure; the stretches are in their order.
[[nodiscard]] std::vector<archive_gap> gaps_between(std::span<const stretch> all);

/// `orders-20260214T120000Z-0badcafe`, of a database `orders.db`. Sorted, they are in order.
[[nodiscard]] std::string stretch_name(std::string_view database, wall_time begun,
                                       std::uint32_t tag);
[[nodiscard]] bool is_stretch_name(std::string_view name, std::string_view database);
/// `orders`, of `/srv/orders.db`: under that name its archive lies.
[[nodiscard]] std::string archived_name(const std::filesystem::path& database);

/// The stretches of a database, in their order, by the heads of their files. A folder that is not
/// there has none.
[[nodiscard]] result<std::vector<stretch>> scan_archive(const std::filesystem::path& folder,
                                                        std::string_view database);
/// One of them.
[[nodiscard]] result<stretch> scan_stretch(const std::filesystem::path& folder);

}  // namespace posthorn::standby
