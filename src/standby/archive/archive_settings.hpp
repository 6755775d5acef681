#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>

#include "feature/feature.hpp"
#include "feature/store_builder.hpp"
#include "standby/archive/archiver.hpp"

namespace posthorn::standby {

/// What the section `[standby]` says of the archive.
struct archive_settings {
    std::filesystem::path folder{};
    std::chrono::milliseconds every{};
    std::chrono::milliseconds base_every{};
    archive_limits limits{};
};

inline constexpr std::array archive_keys{
    feature_key{"archive", "a folder that keeps the log, to restore any moment from, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"archive_every", "how much of the newest log may be missing there",
                [] { return feature_value(std::chrono::milliseconds(std::chrono::seconds{60})); }},
    feature_key{"archive_base_every", "how often the whole database is copied there",
                [] { return feature_value(std::chrono::milliseconds(std::chrono::hours{24})); }},
    feature_key{"archive_keep", "how far back a restore may go",
                [] { return feature_value(std::chrono::milliseconds(std::chrono::hours{168})); }},
    feature_key{"archive_bytes", "the most that the archive may take, or 0 for no limit",
                [] { return feature_value(std::int64_t{0}); }},
};

/// Empty where there is to be none. A relative folder is beside the database.
/// `error_code::invalid_configuration`, naming the key.
[[nodiscard]] result<std::optional<archive_settings>> read_archive_settings(
    const feature_settings& said, const std::filesystem::path& database);
/// What is wrong of it, as far as the values alone tell.
[[nodiscard]] std::optional<feature_problem> check_archive_settings(const feature_settings& said);
/// Why a database cannot be archived; empty if it can, or is not to be.
[[nodiscard]] std::optional<feature_problem> refuse_archive(const feature_settings& said,
                                                            const store_plan& plan);

}  // namespace posthorn::standby
