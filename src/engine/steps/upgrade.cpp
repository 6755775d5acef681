#include "engine/steps/upgrade.hpp"

#include <utility>

#include "base/planted.hpp"

namespace posthorn {

std::string find_obstacle(const detail::workflow_entry& code, const instance_row& of,
                          std::span<const recorded_step> history) {
    detail::flow_step step;
    if (!history.empty()) {
        const auto same = rebuild(code, run_name(of), history, step, {}, quoting::nothing);
        return same ? std::string() : same.error();
    }
    const auto run = code.begin(run_name(of));
    const detail::flow_event start{
        .kind = detail::event_kind::start, .payload = of.arguments, .state = of.carried};
    static const detail::recorded_patches none;
    static_cast<void>(run->feed(start, step, &none));
    if (step.status != flow_status::quarantined) return {};
    return fmt::format("step 1: {}", step.result);
}

result<upgrade_page> look_for_upgrade(store_reader& reader, const upgrade_range& which,
                                      const detail::workflow_entry& code) {
    std::vector<std::int64_t> found;
    POSTHORN_TRY(ask(
        reader,
        "SELECT instance FROM workflow_instances WHERE workflow = ? AND version = ?"
        " AND status IN ('starting', 'running', 'paused', 'quarantined') AND instance > ?"
        " ORDER BY instance LIMIT ?",
        [&](const sql_row& row) { found.push_back(row.integer(0)); }, which.workflow, which.from,
        which.after, which.count));
    upgrade_page page{.last = found.empty() ? which.after : found.back(),
                      .is_more = std::ssize(found) == which.count};
    for (const auto instance : found) {
        const auto row = find_instance(reader, instance);
        if (!row && row.error().code() != error_code::store_corrupt)
            return std::unexpected(row.error());
        if (!row) {
            page.differ.push_back({std::to_string(instance), row.error().what()});
            continue;
        }
        if (!*row) continue;
        const auto history = read_history(reader, **row);
        if (!history && history.error().code() != error_code::store_corrupt)
            return std::unexpected(history.error());
        auto why =
            history ? find_obstacle(code, **row, *history) : std::string(history.error().what());
        if (why.empty())
            page.alike.push_back({instance, (*row)->run, std::ssize(*history)});
        else
            page.differ.push_back({(*row)->id, std::move(why)});
    }
    return page;
}

result<std::int64_t> move_to_version(store_transaction& tx, std::span<const upgradable> which,
                                     std::int64_t from, std::int64_t to) {
    std::int64_t moved = 0;
    for (const auto& each : which) {
        const auto steps = POSTHORN_PLANTED(moved_after_a_step) ? INT64_MAX : each.steps;
        POSTHORN_LET(
            changed,
            change(tx,
                   "UPDATE workflow_instances SET version = ? WHERE instance = ? AND version = ?"
                   " AND run = ? AND status IN ('starting', 'running', 'paused', 'quarantined')"
                   " AND (SELECT coalesce(max(h.step), 0) FROM workflow_history h"
                   " WHERE h.instance = workflow_instances.instance"
                   " AND h.run = workflow_instances.run) <= ?",
                   to, each.instance, from, each.run, steps));
        moved += changed;
    }
    return moved;
}

}  // namespace posthorn
