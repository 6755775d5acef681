#include "standby/archive/archiving.hpp"

#include <boost/json/array.hpp>

namespace posthorn::standby {
namespace {

namespace json = boost::json;

double seconds_of(std::chrono::milliseconds time) {
    return std::chrono::duration<double>(time).count();
}

double seconds_of(wall_time at) {
    return std::chrono::duration<double>(at.time_since_epoch()).count();
}

json::value time_of(const std::optional<wall_time>& at) {
    return at ? json::value(to_iso8601(*at)) : json::value(nullptr);
}

std::string end_of(const archive_gap& gap) {
    return gap.to ? fmt::format("and {}", to_iso8601(*gap.to)) : "and a base that is not whole yet";
}

}  // namespace

archiving::archiving(const archive_settings& how, const store_plan& plan, std::uint64_t epoch,
                     const environment& env, std::uint64_t log_kept)
    : settings_(how),
      time_(env.clock),
      archiver_({.as = {.folder = how.folder,
                        .database = archived_name(plan.file),
                        .service = plan.service,
                        .epoch = epoch},
                 .every = how.every,
                 .base_every = how.base_every,
                 .limits = how.limits,
                 .log_kept = log_kept},
                {thread_, env.random, env.log, env.clock}) {}

std::vector<health_worry> worries_of(const archive_report& seen, const archive_settings& how,
                                     wall_time now) {
    std::vector<health_worry> all;
    const auto add = [&](std::string what) {
        all.push_back({health_level::yellow, std::move(what)});
    };
    if (!seen.trouble.empty())
        add(
            fmt::format("the archive cannot be written: {}; {} bytes of the log wait for it, and "
                        "past standby.wal_keep there is a gap",
                        seen.trouble, seen.behind));
    else if (seen.behind_for > 2 * how.every + std::chrono::seconds{10})
        add(fmt::format("the archive is behind by {:.0f} s; see whether its disk keeps up",
                        seconds_of(seen.behind_for)));
    if (seen.has_tried && !seen.oldest && seen.trouble.empty())
        add("the first base of the archive is not whole yet; until it is, nothing can be restored "
            "from it");
    constexpr std::chrono::hours gap_told{24};
    for (const auto& gap : seen.gaps)
        if (!gap.to || *gap.to > now - gap_told)
            add(
                fmt::format("between {} {} nothing was archived, and no moment of it can be "
                            "restored; another program copied the log while no node ran, or the "
                            "folder failed for too long",
                            to_iso8601(gap.from), end_of(gap)));
    if (!seen.lost.empty())
        add(fmt::format(
            "{} of the archive {} missing or damaged, the first is {}; 'posthorn "
            "restore --list' tells which moments are left",
            seen.lost.size() == 1 ? "a file" : fmt::format("{} files", seen.lost.size()),
            seen.lost.size() == 1 ? "is" : "are", seen.lost.front()));
    return all;
}

json::object to_json(const archive_report& seen, const archive_settings& how) {
    json::array gaps;
    for (const auto& gap : seen.gaps)
        gaps.push_back(json::object{{"from", to_iso8601(gap.from)}, {"to", time_of(gap.to)}});
    json::array lost;
    for (const auto& file : seen.lost) lost.emplace_back(file);
    return {{"configured", true},
            {"folder", how.folder.string()},
            {"oldest", time_of(seen.oldest)},
            {"newest", time_of(seen.newest)},
            {"baseAt", time_of(seen.base_at)},
            {"copiedBytes", seen.copied ? json::value(*seen.copied) : json::value(nullptr)},
            {"behindBytes", seen.behind},
            {"behindSeconds", seconds_of(seen.behind_for)},
            {"bytes", seen.bytes},
            {"segments", seen.segments},
            {"bases", seen.bases},
            {"gaps", std::move(gaps)},
            {"lost", std::move(lost)},
            {"trouble", seen.trouble}};
}

void write_metrics(prometheus_text& text, const archive_report& seen) {
    if (seen.newest)
        text.gauge("posthorn_archive_newest_timestamp_seconds",
                   "The newest moment that can be restored from the archive.",
                   seconds_of(*seen.newest));
    if (seen.oldest)
        text.gauge("posthorn_archive_oldest_timestamp_seconds", "The oldest one.",
                   seconds_of(*seen.oldest));
    text.gauge("posthorn_archive_failing", "Whether the archive cannot be written now.",
               seen.trouble.empty() ? 0 : 1);
    text.gauge("posthorn_archive_behind_seconds", "How long a commit has not been in the archive.",
               seconds_of(seen.behind_for));
    text.gauge("posthorn_archive_behind_bytes", "Bytes of the log that are not in the archive.",
               static_cast<double>(seen.behind));
    text.gauge("posthorn_archive_gaps", "Times within the archive that cannot be restored.",
               static_cast<double>(seen.gaps.size()));
    text.gauge("posthorn_archive_lost_files", "Files of the archive that are missing or damaged.",
               static_cast<double>(seen.lost.size()));
    text.gauge("posthorn_archive_bytes", "What the archive takes.",
               static_cast<double>(seen.bytes));
}

}  // namespace posthorn::standby
