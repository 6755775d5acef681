#include "engine/steps/engine_report.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/ranges.h>

#include "base/text/counted.hpp"
#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::seconds code_limit{10};
constexpr std::size_t missing_told_max = 5;

/// The ids of the oldest few that are open: `o1, o2, o3, …`.
std::string some_ids(store& where, const std::string& workflow, std::int64_t version) {
    constexpr std::size_t named_max = 3;
    std::vector<std::string> ids;
    const auto read = where.read([&](store_reader& from) {
        return ask(
            from,
            "SELECT CASE WHEN octet_length(id) <= 4096 THEN id ELSE '?' END"
            " FROM workflow_instances WHERE workflow = ? AND version = ?"
            " AND status IN ('starting', 'running', 'paused', 'quarantined')"
            " ORDER BY instance LIMIT 4",
            [&](const sql_row& row) { ids.push_back(clean_utf8(row.text(0), 100)); }, workflow,
            version);
    });
    if (!read) return "which ones cannot be read now";
    const bool is_more = ids.size() > named_max;
    if (is_more) ids.back() = "…";
    return fmt::format("{}", fmt::join(ids, ", "));
}

std::string version_words(std::int64_t version) {
    return version == 0 ? std::string() : fmt::format(", version {}", version);
}

}  // namespace

void engine_report::look_over(store& where,
                              const std::function<bool(const instance_row&)>& has_code) {
    std::vector<open_workflows> open;
    std::vector<missing_code> missing;
    std::int64_t held = 0;
    const auto read = where.read([&](store_reader& from) {
        return ask(from, open_counts_sql, [&](const sql_row& row) {
            open.push_back({std::string(row.text(0)), row.integer(1), std::string(row.text(2)),
                            row.integer(3)});
            if (row.text(2) == "quarantined") held += row.integer(3);
            const instance_row any{.workflow = std::string(row.text(0)), .version = row.integer(1)};
            if (has_code(any)) return;
            const bool is_next = missing.empty() || missing.back().workflow != any.workflow ||
                                 missing.back().version != any.version;
            if (is_next) missing.push_back({any.workflow, any.version});
            missing.back().open += row.integer(3);
        });
    });
    if (!read) return;
    for (auto& each : missing | std::views::take(missing_told_max))
        each.ids = some_ids(where, each.workflow, each.version);
    const std::scoped_lock lock(mutex_);
    open_ = std::move(open);
    missing_ = std::move(missing);
    held_ = held;
}

std::vector<open_workflows> engine_report::open() const {
    const std::scoped_lock lock(mutex_);
    return open_;
}

const engine_report::missing_code* engine_report::find_missing(const instance_row& of) const {
    const auto found = std::ranges::find_if(missing_, [&](const missing_code& each) {
        return each.workflow == of.workflow && each.version == of.version;
    });
    return found == missing_.end() ? nullptr : &*found;
}

bool engine_report::knows_missing(const instance_row& of) const {
    const std::scoped_lock lock(mutex_);
    return find_missing(of) != nullptr;
}

void engine_report::note_trouble(const instance_row& of, std::string_view why) {
    const std::scoped_lock lock(mutex_);
    troubled_[of.instance] =
        fmt::format("{} {}: {}", clean_utf8(of.workflow, 200), clean_utf8(of.id, 200), why);
}

void engine_report::forget_trouble(std::int64_t instance) {
    const std::scoped_lock lock(mutex_);
    troubled_.erase(instance);
}

void engine_report::note_obstacle(std::string_view what, std::string why) {
    const std::scoped_lock lock(mutex_);
    obstacles_.insert_or_assign(std::string(what), std::move(why));
}

void engine_report::forget_obstacle(std::string_view what) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = obstacles_.find(what); found != obstacles_.end())
        obstacles_.erase(found);
}

void engine_report::code_runs(const instance_row& of) {
    const std::scoped_lock lock(mutex_);
    running_.assign(of.workflow).append(" ").append(of.id);
    running_instance_ = of.instance;
    running_since_ = time_.steady();
}

void engine_report::code_waits() {
    const std::scoped_lock lock(mutex_);
    running_since_.reset();
}

std::optional<running_workflow> engine_report::running() const {
    const std::scoped_lock lock(mutex_);
    if (!running_since_) return std::nullopt;
    return running_workflow{running_instance_, running_, time_.steady() - *running_since_};
}

std::vector<health_worry> engine_report::worries(bool is_hosting) const {
    std::vector<health_worry> all;
    const std::scoped_lock lock(mutex_);
    for (const auto& each : missing_ | std::views::take(missing_told_max)) {
        const auto name = clean_utf8(each.workflow, 200);
        const auto with_version =
            each.version == 0 ? std::string() : fmt::format(" --version {}", each.version);
        all.push_back(
            {is_hosting ? health_level::red : health_level::yellow,
             fmt::format("{} of {}{} cannot go on: this program has no such code; add it to the "
                         "node ({}; see 'posthorn workflow list --workflow {}{}')",
                         counted(each.open, "open workflow"), name, version_words(each.version),
                         each.ids, name, with_version)});
    }
    if (missing_.size() > missing_told_max)
        all.push_back(
            {health_level::yellow,
             fmt::format("so it is with {}; see 'posthorn workflow counts'",
                         counted(std::ssize(missing_) - static_cast<std::int64_t>(missing_told_max),
                                 "more workflow or version", "more workflows and versions"))});
    if (held_ > 0)
        all.push_back(
            {health_level::yellow,
             fmt::format("{} in quarantine; see 'posthorn workflow list --status quarantined'",
                         counted(held_, "workflow"))});
    if (!troubled_.empty())
        all.push_back(
            {health_level::yellow,
             fmt::format("{} cannot take a step, and tries again: {}",
                         counted(std::ssize(troubled_), "workflow"), troubled_.begin()->second)});
    for (const auto& [what, why] : obstacles_)
        all.push_back({health_level::yellow, fmt::format("{}: {}", what, why)});
    if (!running_since_) return all;
    const auto age = time_.steady() - *running_since_;
    if (age >= code_limit)
        all.push_back(
            {health_level::red,
             fmt::format("the code of workflow {} has run for {} s without waiting for "
                         "anything, and all others wait for it",
                         running_, std::chrono::floor<std::chrono::seconds>(age).count())});
    return all;
}

}  // namespace posthorn
