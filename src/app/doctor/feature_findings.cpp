#include "app/doctor/feature_findings.hpp"

#include <filesystem>

#include "app/features.hpp"
#include "app/store/open_store.hpp"
#include "store/sqlite/upkeep/file_facts.hpp"

namespace posthorn {
namespace {

result<std::vector<std::int64_t>> ask(const config& settings, const feature_check& check,
                                      const clock& time) {
    const auto& store = settings.store;
    const auto& url = check.of_inbox && store.inbox_url ? *store.inbox_url : store.url;
    const auto path = settings.path_of(url);
    std::error_code unusable;
    if (url.on_server) return ask_server({.url = path, .schema = store.schema}, check.sql, time);
    if (url.in_memory || !std::filesystem::exists(path, unusable))
        return fail(error_code::not_found, "there is no database");  // Another check says so.
    return sqlite::ask_file(path, std::string(check.sql));
}

finding to_finding(feature_finding found) {
    return {.level = found.is_well ? finding_level::ok : finding_level::warn,
            .what = std::move(found.what),
            .why = std::move(found.why),
            .todo = std::move(found.todo)};
}

}  // namespace

std::vector<named_finding> feature_findings(const config& settings, const clock& time) {
    std::vector<named_finding> all;
    for (const auto* const each : all_features())
        for (const auto& check : each->checks())
            if (const auto numbers = ask(settings, check, time))
                all.push_back({check.name, to_finding(check.judge(*numbers, time.wall()))});
    return all;
}

}  // namespace posthorn
