#include "app/doctor/feature_findings.hpp"

#include <filesystem>

#include "app/features.hpp"
#include "app/store/open_store.hpp"
#include "store/sqlite/upkeep/file_facts.hpp"

namespace posthorn {
namespace {

struct question {
    std::string_view sql;
    bool of_inbox = false;
};

result<std::vector<std::int64_t>> ask(const config& settings, const question& what,
                                      const clock& time) {
    const auto& store = settings.store;
    const auto& url = what.of_inbox && store.inbox_url ? *store.inbox_url : store.url;
    const auto path = settings.path_of(url);
    std::error_code unusable;
    if (url.on_server) return ask_server({.url = path, .schema = store.schema}, what.sql, time);
    if (url.in_memory || !std::filesystem::exists(path, unusable))
        return fail(error_code::not_found, "there is no database");  // Another check says so.
    return sqlite::ask_file(path, std::string(what.sql));
}

finding to_finding(feature_finding found) {
    return {.level = found.is_well ? finding_level::ok : finding_level::warn,
            .what = std::move(found.what),
            .why = std::move(found.why),
            .todo = std::move(found.todo)};
}

// A line for each kind that there is, or one that there is none.
void add_odd_rows(const config& settings, const clock& time, std::vector<named_finding>& into) {
    constexpr std::string_view name = "rows";
    const auto before = into.size();
    bool is_any_asked = false;
    for (const auto* const each : all_features())
        for (const auto& kind : each->odd()) {
            const auto sql = count_of_odd_sql(kind);
            const auto numbers = ask(settings, {sql, kind.of_inbox}, time);
            if (!numbers || numbers->empty()) continue;
            is_any_asked = true;
            auto found = judge_odd(kind, numbers->front());
            if (!found.is_well) into.push_back({name, to_finding(std::move(found))});
        }
    if (is_any_asked && into.size() == before)
        into.push_back({name, {.what = "no row of the features' tables is left out"}});
}

}  // namespace

std::vector<named_finding> feature_findings(const config& settings, const clock& time) {
    std::vector<named_finding> all;
    for (const auto* const each : all_features())
        for (const auto& check : each->checks())
            if (const auto numbers = ask(settings, {check.sql, check.of_inbox}, time))
                all.push_back({check.name, to_finding(check.judge(*numbers, time.wall()))});
    add_odd_rows(settings, time, all);
    return all;
}

}  // namespace posthorn
