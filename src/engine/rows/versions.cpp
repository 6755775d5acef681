#include "engine/rows/versions.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/planted.hpp"

namespace posthorn {
namespace {

constexpr std::array<std::string_view, 4> state_words{"active", "draining", "drained", "missing"};

}  // namespace

std::string_view to_string(version_state state) noexcept {
    return state_words[static_cast<std::size_t>(state)];
}

void judge_versions(std::span<version_row> of_one_workflow) {
    bool has_newer = false;
    for (auto each = of_one_workflow.rbegin(); each != of_one_workflow.rend(); ++each) {
        if (each->is_linked && !has_newer)
            each->state = version_state::active;
        else if (each->open == 0 || (POSTHORN_PLANTED(drained_with_one_open) && each->open == 1))
            each->state = version_state::drained;
        else
            each->state = each->is_linked ? version_state::draining : version_state::missing;
        has_newer |= each->is_linked;
    }
}

result<std::vector<version_row>> read_versions(store_reader& from) {
    std::map<linked_version, version_row> all;
    POSTHORN_TRY(ask(from, "SELECT workflow, version, linked, at FROM workflow_versions",
                     [&](const sql_row& row) {
                         version_row one{.workflow = std::string(row.text(0)),
                                         .version = row.integer(1),
                                         .is_linked = row.integer(2) != 0,
                                         .since = row.integer(3)};
                         all[{one.workflow, one.version}] = one;
                     }));
    const auto newest = [&](const std::string& workflow) {
        std::int64_t found = 0;
        for (const auto& [key, one] : all)
            if (key.first == workflow && one.is_linked) found = std::max(found, key.second);
        return found;
    };
    std::vector<version_row> open;
    POSTHORN_TRY(ask(from, open_counts_sql, [&](const sql_row& row) {
        const bool is_held = row.text(2) == "quarantined";
        open.push_back({.workflow = std::string(row.text(0)),
                        .version = row.integer(1),
                        .open = row.integer(3),
                        .held = is_held ? row.integer(3) : 0});
    }));
    for (auto& each : open) {
        if (each.version == 0) each.version = newest(each.workflow);
        auto& known = all[{each.workflow, each.version}];
        known.workflow = each.workflow;
        known.version = each.version;
        known.open += each.open;
        known.held += each.held;
    }
    std::vector<version_row> rows;
    for (auto& [key, each] : all) rows.push_back(std::move(each));
    for (auto first = rows.begin(); first != rows.end();) {
        const auto last = std::find_if(first, rows.end(), [&](const version_row& each) {
            return each.workflow != first->workflow;
        });
        judge_versions({first, last});
        first = last;
    }
    return rows;
}

result<> note_versions(store_transaction& tx, std::span<const linked_version> linked,
                       wall_time now) {
    POSTHORN_TRY(change(tx, "UPDATE workflow_versions SET linked = 0 WHERE linked <> 0"));
    for (const auto& [workflow, version] : linked)
        POSTHORN_TRY(must_change(tx, "workflow_versions",
                                 "INSERT INTO workflow_versions (workflow, version, linked, at)"
                                 " VALUES (?, ?, 1, ?)"
                                 " ON CONFLICT (workflow, version) DO UPDATE SET linked = 1",
                                 workflow, version, now.time_since_epoch().count()));
    return {};
}

void submit_versions(store& where, const environment& env, std::vector<linked_version> linked) {
    where.submit(
        {.work = [linked = std::move(linked), &time = env.clock](
                     store_transaction& tx) { return note_versions(tx, linked, time.wall()); },
         .done =
             [&log = env.log](const result<>& outcome) {
                 if (!outcome && outcome.error().code() != error_code::closed)
                     log.warn("Workflow: its versions cannot be noted: {Error}",
                              {{"Error", outcome.error().what()}});
             }});
}

}  // namespace posthorn
