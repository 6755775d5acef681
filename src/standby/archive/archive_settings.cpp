#include "standby/archive/archive_settings.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

struct range {
    milliseconds min{};
    milliseconds max{};
};

result<milliseconds> read_time(const feature_settings& said, std::string_view key,
                               const range& allowed, std::string_view advice) {
    const auto time = said.get<milliseconds>(key);
    if (time >= allowed.min && time <= allowed.max) return time;
    return fail(error_code::invalid_configuration, "standby.{} cannot be {} ms; write {}", key,
                time.count(), advice);
}

}  // namespace

result<std::optional<archive_settings>> read_archive_settings(
    const feature_settings& said, const std::filesystem::path& database) {
    using namespace std::chrono_literals;
    const auto& folder = said.get<std::string>("archive");
    POSTHORN_LET(every, read_time(said, "archive_every", {100ms, 24h}, "100ms to 1d"));
    POSTHORN_LET(base_every, read_time(said, "archive_base_every", {1s, 24h * 3'660}, "1s to 10y"));
    POSTHORN_LET(keep, read_time(said, "archive_keep", {base_every, 24h * 36'600},
                                 "standby.archive_base_every or more"));
    const auto bytes = said.get<std::int64_t>("archive_bytes");
    constexpr auto bytes_min = std::int64_t{1} << 20U;
    if (bytes != 0 && bytes < bytes_min)
        return fail(error_code::invalid_configuration,
                    "standby.archive_bytes cannot be {}; write 0 for no limit, or {} bytes or more",
                    bytes, bytes_min);
    if (folder.empty())
        return fail(error_code::invalid_configuration,
                    "standby.archive cannot be empty; write a folder, or none");
    if (folder == "none") return std::optional<archive_settings>{};
    return std::optional(archive_settings{.folder = database.parent_path() / folder,
                                          .every = every,
                                          .base_every = base_every,
                                          .limits = {keep, static_cast<std::uint64_t>(bytes)}});
}

std::optional<feature_problem> check_archive_settings(const feature_settings& said) {
    const auto read = read_archive_settings(said, {});
    if (read) return std::nullopt;
    // It begins with the section and the key.
    const std::string_view what(read.error().what());
    for (const auto& key : archive_keys)
        if (what.starts_with(fmt::format("standby.{} ", key.name)))
            return feature_problem{key.name, read.error()};
    return feature_problem{"archive", read.error()};
}

std::optional<feature_problem> refuse_archive(const feature_settings& said,
                                              const store_plan& plan) {
    if (said.get<std::string>("archive") == "none") return std::nullopt;
    const auto refused = [&](std::string_view why) {
        return feature_problem{"archive", error(error_code::invalid_configuration,
                                                fmt::format("standby.archive: {}", why))};
    };
    if (plan.on_server)
        return refused(
            "it keeps the log of a SQLite file; a PostgreSQL server archives its own: see "
            "docs/operating/scale-out.md");
    if (plan.in_memory)
        return refused("a store in memory has no log to keep; name a file in store.url");
    if (plan.has_own_inbox)
        return refused(
            "it follows one file, and what handlers write goes to another; leave "
            "store.inbox_url out");
    if (!plan.syncs_commits)
        return refused("only what was synced is archived; set store.synchronous = \"full\"");
    return std::nullopt;
}

}  // namespace posthorn::standby
