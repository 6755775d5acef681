#include "forward/targets/sql_target.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/async/run_on.hpp"

namespace posthorn {
namespace {

sql_param text_or_nothing(const std::string& text) {
    return text.empty() ? sql_param(nullptr) : sql_param(std::string_view(text));
}

struct named_value {
    std::string_view name;
    sql_param (*of)(const forward_message& work, const std::string& id);
};

constexpr std::array work_values{
    named_value{"id", [](const forward_message&,
                         const std::string& id) { return sql_param(std::string_view(id)); }},
    named_value{"payload",
                [](const forward_message& work, const std::string&) {
                    return sql_param(std::string_view(work.payload));
                }},
    named_value{"target", [](const forward_message& work,
                             const std::string&) { return text_or_nothing(work.target); }},
    named_value{"category", [](const forward_message& work,
                               const std::string&) { return text_or_nothing(work.category); }},
    named_value{"created_at",
                [](const forward_message& work, const std::string&) {
                    return sql_param(std::int64_t{work.created_at.time_since_epoch().count()});
                }},
    named_value{"origin_instance",
                [](const forward_message& work, const std::string&) {
                    return text_or_nothing(work.origin_instance);
                }},
    named_value{"execution_id",
                [](const forward_message& work, const std::string&) {
                    return text_or_nothing(work.execution_id);
                }},
    named_value{"source_script",
                [](const forward_message& work, const std::string&) {
                    return text_or_nothing(work.source_script);
                }},
    named_value{"parent_execution_id",
                [](const forward_message& work, const std::string&) {
                    return text_or_nothing(work.parent_execution_id);
                }},
};

result<> write_work(const sql_target& how, outside_database& into, const forward_message& work) {
    const auto id = work.id.to_string();
    std::vector<outside_statement> all;
    for (const auto& each : how.script) {
        auto& one = all.emplace_back(outside_statement{.sql = each.sql});
        for (const auto& name : each.parameters)
            one.values.push_back(
                std::ranges::find(work_values, name, &named_value::name)->of(work, id));
    }
    return into.run(all, how.once ? id : std::string());
}

task<asked_outcome> write_outside(std::shared_ptr<const sql_target> how,
                                  std::shared_ptr<outside_database> into, executor& workers,
                                  forward_message work) {
    auto target = work.target;
    const auto done = co_await run_on(
        workers, [how, into, work = std::move(work)] { return write_work(*how, *into, work); });
    co_return asked_outcome{.what = judge_outside(done, target)};
}

}  // namespace

result<std::vector<sql_statement>> read_target_script(std::string_view sql) {
    POSTHORN_LET(script, parse_sql_script(sql));
    for (const auto& statement : script)
        for (const auto& name : statement.parameters)
            if (std::ranges::find(work_values, name, &named_value::name) == work_values.end())
                return fail(error_code::invalid_configuration,
                            "there is no value for :{}; there are :id, :payload, :target, "
                            ":category, :created_at, :origin_instance, :execution_id, "
                            ":source_script and :parent_execution_id",
                            name);
    return script;
}

delivery judge_outside(const result<>& done, std::string_view target) {
    if (done) return {.what = outcome::delivered};
    const auto code = done.error().code();
    const bool is_out = code == error_code::store_unavailable || code == error_code::store_busy;
    return {.what = is_out ? outcome::unanswered : outcome::transient,
            .error = fmt::format("the database for {} says: {}", target, done.error().what())};
}

forward_asker make_sql_asker(sql_target how, std::shared_ptr<outside_database> database,
                             executor& workers) {
    return [how = std::make_shared<const sql_target>(std::move(how)),
            database = std::move(database), &workers](forward_message work) {
        return write_outside(how, database, workers, std::move(work));
    };
}

}  // namespace posthorn
